package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

func TestLookFindsWhatTheWatchSwallowed(t *testing.T) {
	t.Parallel()
	for _, need := range []live.Need{live.Metadata, live.Body} {
		t.Run(need.String(), func(t *testing.T) {
			in := realCluster(t)
			leak, through := newValve(admin)
			children, w, _ := observe(t, through)
			kept := in.create(child(configMaps, "look-kept", "look-1"))
			lost := in.create(child(configMaps, "look-lost", "look-2"))
			children.Want("k", wants{configMaps: need})
			synced(t, children, configMaps, need)

			leak.drop("look-")
			in.remove(lost)
			added := in.create(child(configMaps, "look-added", "look-3"))
			kept.SetFinalizers(nil)
			kept.SetLabels(map[string]string{"more": "yes", "jacquard.dev/owner-uid": "look-1"})
			in.update(kept)
			in.create(child(configMaps, "passes", "other-4"))
			eventually(t, "a later event came through", func() bool { return len(names(t, children, configMaps, "other-4")) == 1 })
			if w.changes("look-2") != 0 || len(names(t, children, configMaps, "look-2")) != 1 {
				t.Fatal("nothing was swallowed")
			}

			leak.drop("")
			if err := children.Resync(t.Context(), configMaps); err != nil {
				t.Fatal(err)
			}
			for uid, want := range map[string][]string{"look-1": {"look-kept"}, "look-2": {}, "look-3": {"look-added"}} {
				if diff := cmp.Diff(want, names(t, children, configMaps, types.UID(uid))); diff != "" {
					t.Error(diff)
				}
				eventually(t, "told of "+uid, func() bool { return w.changes(types.UID(uid)) == 1 })
			}
			found, err := children.Of(configMaps, "look-1")
			if err != nil || found[0].Meta.GetLabels()["more"] != "yes" {
				t.Errorf("found %v, %v", found, err)
			}
			// What is right again stays right, and is watched.
			in.remove(added)
			eventually(t, "the new watch delivers", func() bool { return len(names(t, children, configMaps, "look-3")) == 0 })
		})
	}
}

func TestLookAtRest(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	here := in.place() // where nothing else changes
	count, through := newCounter(admin)
	children, w, _ := observe(t, through, here)
	one := child(configMaps, "rest-a", "rest-1")
	one.SetNamespace(here)
	in.create(one)
	children.Want("k", wants{configMaps: live.Body})
	synced(t, children, configMaps, live.Body)
	before := count.Load()
	for range 3 {
		if err := children.Resync(t.Context(), configMaps); err != nil {
			t.Fatal(err)
		}
	}
	if n := count.Load() - before; n != 3 {
		t.Errorf("three looks took %d requests", n)
	}
	if w.changes("rest-1") != 0 {
		t.Error("a look that found nothing told of changes")
	}
}

// TestLookEndsWhatStandsIn: a look ends what stands in although the watch swallowed it, and finds
// that something went.
func TestLookEndsWhatStandsIn(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	leak, through := newValve(admin)
	children, _, _ := observe(t, through)
	old := in.create(child(configMaps, "end-a", "end-1"))
	children.Want("k", wants{configMaps: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	leak.drop("end-")
	in.remove(old)
	made := in.create(child(configMaps, "end-b", "end-1"))
	children.RecordWrite(configMaps, made)
	if diff := cmp.Diff([]string{"end-a", "end-b"}, names(t, children, configMaps, "end-1")); diff != "" {
		t.Error(diff)
	}
	leak.drop("")
	if err := children.Resync(t.Context(), configMaps); err != nil {
		t.Fatal(err)
	}
	if n := pending(children); n != 0 {
		t.Errorf("%d entries still stand in", n)
	}
	if diff := cmp.Diff([]string{"end-b"}, names(t, children, configMaps, "end-1")); diff != "" {
		t.Error(diff)
	}
}

// TestLookFindsThatVersionsWentBack: a watch that believes in a future which the server no longer
// knows.
func TestLookFindsThatVersionsWentBack(t *testing.T) {
	t.Parallel()
	in := realCluster(t)
	children, _, _ := observe(t, admin)
	in.create(child(configMaps, "back-a", "back-1"))
	children.Want("k", wants{configMaps: live.Metadata})
	synced(t, children, configMaps, live.Metadata)
	k := children.kindOf(configMaps)
	k.mu.Lock()
	k.current.stores[0].passed = "9000000000"
	k.mu.Unlock()
	if err := children.Resync(t.Context(), configMaps); err != nil {
		t.Fatal(err)
	}
	k.mu.Lock()
	passed := k.current.stores[0].passed
	k.mu.Unlock()
	if len(passed) == len("9000000000") {
		t.Error("the watch still waits for a future")
	}
	if diff := cmp.Diff([]string{"back-a"}, names(t, children, configMaps, "back-1")); diff != "" {
		t.Error(diff)
	}
}
