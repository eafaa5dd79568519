package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// patch applies data under the patch manager of a uid; nil releases.
func (c cluster) patch(namespace, name string, uid types.UID, data map[string]any) *unstructured.Unstructured {
	c.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(configMaps)
	u.SetNamespace(namespace)
	u.SetName(name)
	if data != nil {
		u.Object["data"] = data
	}
	made, err := c.of(u).Apply(c.Context(), name, u, metav1.ApplyOptions{FieldManager: api.PatchManager(uid)})
	if err != nil {
		c.Fatal(err)
	}
	return made
}

// patched returns the names of what a patch manager has fields of.
func patched(t *testing.T, r *Reads, uid types.UID) string {
	t.Helper()
	found, err := r.Patched(configMaps, uid)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found {
		if len(l.Meta.GetManagedFields()) == 0 || l.Body["data"] == nil {
			t.Errorf("%s is not whole: %v", l.Meta.GetName(), l.Body)
		}
	}
	return called(found)
}

func TestPatchedIsFoundByManager(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	one := types.UID(here + "-1")
	other := types.UID(here + "-2")
	in.create(object(here, "a", nil))
	in.create(object(here, "b", nil))
	in.create(object(here, "c", nil))
	in.patch(here, "a", one, map[string]any{"mine": "1"})
	in.patch(here, "b", one, map[string]any{"mine": "1"})
	in.patch(here, "b", other, map[string]any{"other": "1"})

	// What was read before, if anything, does not matter after a restart.
	reads, a := read(t, admin)
	if _, err := reads.Patched(configMaps, one); err == nil {
		t.Error("answers though nobody wants it watched")
	}
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	var first []live.Object // the first answer is whole: until all is listed there is none
	eventually(t, "it answers", func() (answered bool) {
		found, err := reads.Patched(configMaps, one)
		first = found
		return err == nil
	})
	if diff := cmp.Diff("a b", called(first)); diff != "" {
		t.Error(diff)
	}
	known(t, reads, everyConfigMap)
	reads.patience = -time.Hour
	reads.Trim()
	for uid, want := range map[types.UID]string{one: "a b", other: "b", "nobody": ""} {
		if diff := cmp.Diff(want, patched(t, reads, uid)); diff != "" {
			t.Error(diff)
		}
	}
	if a.patches(one) != 0 {
		t.Error("the first list told of changes; Synced stands for them")
	}

	// Somebody else changes what is patched; then it is released.
	changed := ask(t, reads, lookup(everyConfigMap, here, "b"))[0]
	if changed.Meta.GetManagedFields() != nil {
		t.Error("a template sees managedFields")
	}
	edit := &unstructured.Unstructured{Object: changed.Body}
	edit = edit.DeepCopy()
	edit.SetLabels(map[string]string{"edited": "yes"})
	in.update(edit)
	eventually(t, "both told", func() bool { return a.patches(one) == 1 && a.patches(other) == 1 })
	in.patch(here, "b", one, nil)
	eventually(t, "both told", func() bool { return a.patches(one) == 2 && a.patches(other) == 2 })
	if diff := cmp.Diff("a", patched(t, reads, one)); diff != "" {
		t.Error(diff)
	}
	in.remove(object(here, "b", nil))
	eventually(t, "told", func() bool { return a.patches(other) == 3 })
	if a.patches(one) != 2 {
		t.Error("told of what was given back before")
	}
}

func TestNoteStandsInForReadsAndPatches(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place()
	uid := types.UID(here)
	in.create(object(here, "a", map[string]string{"app": "x"}))
	lag, through := newValve(admin)
	reads, a := read(t, through)
	reads.Want("k", map[Scope]live.Need{everyConfigMap: live.Body})
	known(t, reads, everyConfigMap)
	byName, bySelector := lookup(everyConfigMap, here, "a"), selecting(t, everyConfigMap, here, "app=x")
	ask(t, reads, byName)
	reads.Record(reader("one"), []Query{byName})
	other := Scope{GroupVersionKind: configMaps, Namespace: here, Name: "b"}
	ask(t, reads, lookup(other, here, "b"))

	for _, data := range []map[string]any{{"mine": "1"}, nil} {
		told, patches := a.told("one"), a.patches(uid)
		lag.hold(true)
		reads.RecordWrite(configMaps, in.patch(here, "a", uid, data))
		if n := len(reads.kindAt(other).overlay.entries); n != 0 {
			t.Errorf("%d notes stand where nothing will end them", n)
		}
		want := ""
		if data != nil {
			want = "a"
		}
		if diff := cmp.Diff(want, patched(t, reads, uid)); diff != "" {
			t.Error(diff)
		}
		for _, q := range []Query{byName, bySelector} {
			found, err := reads.answerQuery(q)
			if err != nil || len(found) != 1 || found[0].Meta.GetManagedFields() != nil {
				t.Fatalf("found %v, %v", found, err)
			}
			if mine := found[0].Body["data"].(map[string]any)["mine"]; (mine != nil) != (data != nil) {
				t.Errorf("the answer of the write does not stand in: %v", mine)
			}
		}
		lag.hold(false)
		eventually(t, "told", func() bool { return a.told("one") == told+1 && a.patches(uid) == patches+1 })
		k := reads.kindAt(everyConfigMap)
		eventually(t, "caught up", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return len(k.overlay.entries) == 0 })
		if diff := cmp.Diff(want, patched(t, reads, uid)); diff != "" {
			t.Error(diff)
		}
	}
}
