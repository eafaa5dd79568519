package operators

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// still holds that an operator writes nothing, and has nothing left to do.
func (k *thing) still(t *testing.T, mark int64, of *kit.Operator) {
	t.Helper()
	of.AwaitQuiet(t)
	if writes := k.writes(t, mark, of); len(writes) > 0 {
		t.Errorf("writes: %v", writes)
	}
}

// wrote waits until an operator has nothing left to do, and the audit log has so many
// writes of it, and no more.
func (k *thing) wrote(t *testing.T, mark int64, of *kit.Operator, times int) {
	t.Helper()
	of.AwaitQuiet(t)
	kit.Eventually(t, fmt.Sprintf("the audit log has %d writes of %s", times, of.Access.User()), func() error {
		if all := k.writes(t, mark, of); len(all) != times {
			return fmt.Errorf("it has %d: %v", len(all), all)
		}
		return nil
	})
}

// TestHalves: two installations with disjoint selectors serve each its half;
// what belongs to neither is served by nobody; after a restart nothing is
// written.
func TestHalves(t *testing.T) {
	k := newThing(t, "halves")
	a := k.run(t, "a", "team=a", k.folder(t, "by a"))
	b := k.run(t, "b", "team in (b,c)", k.folder(t, "by b"))
	mark := cluster.Mark(t)
	k.apply(t, "one", "team: a", "x")
	k.apply(t, "two", "team: b", "x")
	k.apply(t, "three", "team: c", "x")
	k.apply(t, "none", "", "x")
	k.ready(t, "one", "two", "three")
	k.says(t, "one", "x by a")
	k.says(t, "two", "x by b")
	k.says(t, "three", "x by b")
	// A resource costs its finalizer, its children and its status.
	k.wrote(t, mark, a, 4)
	k.wrote(t, mark, b, 8)
	none, err := cluster.Get(k.apiVersion(), "Thing", k.ns, "none")
	if err != nil || none.Object["status"] != nil {
		t.Errorf("%v %v, want no status", none.Object["status"], err)
	}
	claims := shard.Claims(k.crd(t))
	if len(claims) != 2 || slices.ContainsFunc(claims, func(c shard.Claim) bool { return c.Covers(none) }) {
		t.Errorf("claims %v", claims)
	}
	a.Stop(t)
	mark = cluster.Mark(t)
	again := k.run(t, "a", "team=a", k.folder(t, "by a"))
	k.still(t, mark, again)
	k.apply(t, "four", "team: a", "u")
	k.says(t, "four", "u by a")
	k.still(t, mark, b)
}

// TestMoved: a resource whose labels change is handed over: its children stay
// as they are, and whoever served it does not take it for gone.
func TestMoved(t *testing.T) {
	k := newThing(t, "moved")
	a := k.run(t, "a", "team=a", k.folder(t, "now"))
	k.apply(t, "one", "team: a", "x")
	k.ready(t, "one")
	before := k.versions(t, "one")

	// Nobody's, with its children and its finalizer.
	mark := cluster.Mark(t)
	k.apply(t, "one", "team: z", "x")
	k.still(t, mark, a)
	k.unchanged(t, "one", before)

	// The other's, who renders the same.
	b := k.run(t, "b", "team=b", k.folder(t, "now"))
	mark = cluster.Mark(t)
	k.apply(t, "one", "team: b", "x")
	k.still(t, mark, a)
	k.still(t, mark, b)
	k.unchanged(t, "one", before)
	k.apply(t, "one", "team: b", "u")
	k.says(t, "one", "u now")
	k.ready(t, "one")

	// And back again, while it changes.
	before, mark = k.versions(t, "one"), cluster.Mark(t)
	k.apply(t, "one", "team: a", "z")
	k.says(t, "one", "z now")
	k.ready(t, "one")
	awaitQuiet(t, a, b)
	late := len(k.writes(t, mark, b)) // what a writes may come to b before the move does
	if late > 2 {
		t.Errorf("the former one wrote %v", k.writes(t, mark, b))
	}
	k.says(t, "one", "z now")
	k.wrote(t, mark, a, 3+late) // each child and the status, and what b put back
	if now := k.versions(t, "one"); now[0] == before[0] {
		t.Error("nothing was written")
	}
}

// TestDelete: each share ends its resources, children out of the garbage
// collector's reach included; one that is moved while it goes is ended by the
// other; one that is nobody's waits.
func TestDelete(t *testing.T) {
	k := newThing(t, "delete")
	a := k.run(t, "a", "team=a", k.folder(t, "now"))
	b := k.run(t, "b", "team=b", k.folder(t, "now"))
	for name, team := range map[string]string{"one": "a", "two": "b", "three": "a", "four": "b"} {
		k.apply(t, name, "team: "+team, "x")
	}
	k.ready(t, "one", "two", "three", "four")
	remove := func(name string) { cluster.Delete(t, k.apiVersion(), "Thing", k.ns, name) }
	remove("one")
	remove("two")
	k.gone(t, "one")
	k.gone(t, "two")

	before := k.versions(t, "three")
	k.apply(t, "three", "team: z", "x")
	remove("three")
	awaitQuiet(t, a, b)
	k.unchanged(t, "three", before)
	relabel(t, k, "three", "b")
	k.gone(t, "three")

	b.Stop(t) // the other does not end what is not its own
	remove("four")
	a.AwaitQuiet(t)
	k.versions(t, "four")
	relabel(t, k, "four", "a")
	k.gone(t, "four")
}

// relabel changes the label of a resource that is being deleted.
func relabel(t *testing.T, k *thing, name, team string) {
	t.Helper()
	o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
	if err != nil {
		t.Fatal(err)
	}
	o.SetLabels(map[string]string{"team": team})
	if err := cluster.Client.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// TestNamespaces: shares by namespace, each with Roles there and the few
// cluster-wide rights alone.
func TestNamespaces(t *testing.T) {
	k := newThing(t, "namespaces")
	other := cluster.Namespace(t)
	near := func(text string) string {
		root := k.folder(t, text)
		for _, file := range []string{"far.yaml", "kind.yaml"} {
			if err := os.Remove(filepath.Join(root, "templates", k.name(), file)); err != nil {
				t.Fatal(err)
			}
		}
		return root
	}
	a := k.run(t, "a", "", near("by a"), k.ns)
	b := k.run(t, "b", "", near("by b"), other)
	mark := cluster.Mark(t)
	k.apply(t, "one", "", "x")
	k.applyIn(t, other, "two", "", "x")
	for name, where := range map[string]string{"one": k.ns, "two": other} {
		kit.Eventually(t, name+" is Ready", func() error { return cluster.Ready(k.apiVersion(), "Thing", where, name) })
	}
	for _, r := range kit.Writes(cluster.Requests(t, mark)) {
		switch r.User {
		case a.Access.User():
			if r.Namespace != k.ns {
				t.Errorf("a: %s", r)
			}
		case b.Access.User():
			if r.Namespace != other {
				t.Errorf("b: %s", r)
			}
		}
	}
	if claims := shard.Claims(k.crd(t)); len(claims) != 2 {
		t.Errorf("claims %v", claims)
	}
}
