package operators

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lanes is how many of the runs are under way at the same time.
const lanes = 3

// TestKilled: the operator is killed at the k-th write of a resource's
// creation, of a change and of its deletion, for every k until a run ends
// without: once before the server gets it, once before the operator sees the
// answer. The next operator finishes what it finds.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]blow{"before": killBefore, "after": killAfter} {
		for lane := range lanes {
			t.Run(fmt.Sprintf("%s/%d", name, lane), func(t *testing.T) {
				t.Parallel()
				s := build(t, everyWay)
				for k := 1 + lane; s.live(k, b); k += lanes {
					s.renewSite()
				}
			})
		}
	}
}

// renewSite makes the site as it was before any operator ran, in another namespace.
func (s *site) renewSite() {
	s.Helper()
	s.kill()
	s.namespace = cluster.Namespace(s)
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "webs."+s.group)
	if err != nil {
		s.Fatal(err)
	}
	before := crd.DeepCopy()
	crd.SetAnnotations(nil)
	if err := cluster.Client.Patch(ctx, crd, client.MergeFrom(before)); err != nil {
		s.Fatal(err)
	}
}

// live is the life of a resource. It reports whether some phase was struck.
func (s *site) live(k int, b blow) bool {
	s.Helper()
	cluster.Apply(s, s.namespace, foreign)
	passwords := record(s.T, s.namespace)
	s.wire = newWire()
	struck := 0
	for _, phase := range []struct {
		name string
		act  func()
		want want
	}{
		{"creation", func() { s.start(s.wire); s.web("a", want{"one", "old", true}.spec()) }, want{"one", "old", true}},
		{"change", func() { s.web("a", want{"two", "new", false}.spec()) }, want{"two", "new", false}},
		{"deletion", func() { cluster.Delete(s, s.apiVersion(), "Web", s.namespace, "a") }, want{}},
	} {
		s.set(kth(k, b, request.writes))
		phase.act()
		check := func() error { return s.holds(phase.want) }
		what := fmt.Sprintf("the %s of %s is done, struck at write %d", phase.name, s.group, k)
		if s.until(what, check) {
			struck++
			s.start(newWire())
			s.until(what+" and started again", check)
		}
		s.set(nil)
		s.rests(what, check)
	}
	passwords.once(s.T, 1)
	s.collectGarbage()
	s.rests("the garbage was collected", s.left)
	s.Logf("k=%d: struck in %d phases", k, struck)
	return struck > 0
}
