package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// pending counts what stands in for the watch of a kind.
func pending(c *Children) int {
	k := c.kindOf(configMaps)
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.overlay.entries)
}

func TestNoteStandsInForALaggingWatch(t *testing.T) {
	t.Parallel()
	for _, need := range []live.Need{live.Metadata, live.Body} {
		t.Run(need.String(), func(t *testing.T) {
			in := realCluster(t)
			lag, through := newValve(admin)
			children, w, _ := observe(t, through)
			first := in.create(child(configMaps, "note-a", "note-1"))
			children.Want("k", wants{configMaps: need})
			synced(t, children, configMaps, need)

			lag.hold(true)
			second := in.create(child(configMaps, "note-b", "note-1"))
			children.RecordWrite(configMaps, second)
			first.SetAnnotations(map[string]string{api.AnnotationOwner: ownerOf("note-1").String(), api.AnnotationFile: "written"})
			first = in.update(first)
			children.RecordWrite(configMaps, first)
			found, err := children.Of(configMaps, "note-1")
			if err != nil || len(found) != 2 {
				t.Fatalf("found %v, %v", found, err)
			}
			if found[0].Meta.GetAnnotations()[api.AnnotationFile] != "written" {
				t.Error("the answer of the update does not stand in")
			}
			if (found[1].Body != nil) != (need != live.Metadata) {
				t.Errorf("need %v with body %v", need, found[1].Body)
			}
			if pending(children) != 2 {
				t.Errorf("%d entries stand in", pending(children))
			}

			lag.hold(false)
			eventually(t, "caught up", func() bool { return pending(children) == 0 })
			if diff := cmp.Diff([]string{"note-a", "note-b"}, names(t, children, configMaps, "note-1")); diff != "" {
				t.Error(diff)
			}
			if w.changes("note-1") < 2 {
				t.Error("the events behind the notes were not told")
			}
			// The answer of a write that the watch was faster than.
			children.RecordWrite(configMaps, second)
			if pending(children) != 0 {
				t.Error("an old answer stands in")
			}
		})
	}
}

// TestTerminatingStaysVisible: a terminating object stays visible: its Note carries the
// deletionTimestamp.
func TestTerminatingStaysVisible(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	children, _, _ := observe(t, admin)
	held := child(configMaps, "term-a", "term-1")
	held.SetFinalizers([]string{"observe.test/hold"})
	in.create(held)
	children.Want("k", wants{configMaps: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	in.remove(held)
	terminating := func() bool {
		found, err := children.Of(configMaps, "term-1")
		return err == nil && len(found) == 1 && found[0].Meta.GetDeletionTimestamp() != nil
	}
	eventually(t, "seen terminating", terminating)
	free, err := in.of(held).Get(t.Context(), "term-a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	free.SetFinalizers(nil)
	in.update(free)
	eventually(t, "gone", func() bool { return len(names(t, children, configMaps, "term-1")) == 0 })
}

// TestStandsSettle: what stands in ends by resourceVersion, by deletion and by a list that was
// asked for later; here without a cluster, for versions no cluster gives.
func TestStandsSettle(t *testing.T) {
	object := func(version string) live.Object {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetNamespace("n")
		u.SetName("a")
		u.SetUID("u")
		u.SetResourceVersion(version)
		return live.Object{GVK: configMaps, Meta: u}
	}
	for name, c := range map[string]struct {
		version string
		shard   store
		event   string
		left    int
	}{
		"the watch is behind":             {version: "100", shard: store{passed: "99"}, left: 1},
		"the watch is there":              {version: "100", shard: store{passed: "100"}},
		"the watch is beyond":             {version: "99", shard: store{passed: "100"}},
		"another namespace's watch":       {version: "99", shard: store{passed: "100", namespace: "m"}, left: 1},
		"a later list":                    {version: "100", shard: store{passed: "7", began: 1}},
		"not a number":                    {version: "x1", shard: store{passed: "x2"}, left: 1},
		"not a number, delivered":         {version: "x1", shard: store{passed: "x2"}, event: "x3"},
		"not a number, and a later list":  {version: "x1", shard: store{passed: "x2", began: 1}},
		"a number delivered, still older": {version: "100", shard: store{passed: "98"}, event: "98", left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			stands := newWriteOverlay()
			stands.putEntry(object(c.version))
			if c.event != "" {
				stands.dropDelivered(object(c.event))
			}
			stands.dropSettled(&c.shard)
			if len(stands.entries) != c.left {
				t.Errorf("%d notes are left, want %d", len(stands.entries), c.left)
			}
			stands.putEntry(object("1000"))
			stands.dropDeleted(object("1001"))
			if len(stands.entries) != 0 {
				t.Error("a delivered deletion leaves something")
			}
		})
	}
}
