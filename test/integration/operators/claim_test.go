package operators

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/approve"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestOverlap: a share that may have a resource in common with another, or with
// an installation that serves everything, is not served, and says so; it is once
// the other claim is off.
func TestOverlap(t *testing.T) {
	k := newThing(t, "overlap")
	a := k.run(t, "a", "team=a", k.folder(t, "by a"))
	k.apply(t, "one", "team: a, env: x", "x")
	k.says(t, "one", "x by a")
	before := k.versions(t, "one")
	b := k.run(t, "b", "env=x", k.folder(t, "by b"))
	whole := k.run(t, "whole", "", k.folder(t, "by all"))
	key := shard.Claims(k.crd(t))[0].Key
	k.told(t, "ServedElsewhere", "operator "+k.group+"/a serves the resources with team=a of this kind",
		k.group+"/b, which is to serve the resources with env=x, does not", key+"-")
	k.told(t, "ServedElsewhere", k.group+"/whole, which is to serve all resources, does not")
	k.apply(t, "two", "team: z, env: x", "x")
	awaitQuiet(t, a, b, whole)
	k.unchanged(t, "one", before)
	if claims := shard.Claims(k.crd(t)); len(claims) != 1 {
		t.Errorf("claims %v", claims)
	}
	// One beside a is served, though b and the whole wait.
	c := k.run(t, "c", "team=c", k.folder(t, "by c"))
	k.apply(t, "three", "team: c", "x")
	k.says(t, "three", "x by c")

	a.Stop(t)
	annotate(t, k.crd(t), key, "")
	awaitQuiet(t, b, c, whole)
	k.unchanged(t, "one", before) // c has a claim still, which b's would meet
}

// awaitQuiet waits until operators have nothing left to do.
func awaitQuiet(t *testing.T, all ...*kit.Operator) {
	t.Helper()
	for _, op := range all {
		op.AwaitQuiet(t)
	}
}

// TestChanged: an installation whose selector is changed claims the new share
// in place of the old one, and one that is to serve everything gives up its
// share: nothing is written to the children.
func TestChanged(t *testing.T) {
	k := newThing(t, "changed")
	root := k.folder(t, "now")
	k.apply(t, "one", "team: a", "x")
	k.apply(t, "two", "team: b", "x")
	op := k.run(t, "a", "", root)
	k.ready(t, "one", "two")
	k.claimed(t, "all resources")
	one, two := k.versions(t, "one"), k.versions(t, "two")
	for _, selector := range []string{"team=a", "team in (a,b)", ""} {
		op.Stop(t)
		op = k.run(t, "a", selector, root)
		want := "the resources with " + selector
		if selector == "" {
			want = "all resources"
		}
		k.claimed(t, want)
		k.unchanged(t, "one", one)
		k.unchanged(t, "two", two)
	}
}

// TestRollouts: a rollout of one installation that stops neither stops nor
// changes what the other serves; each is approved by itself.
func TestRollouts(t *testing.T) {
	k := newThing(t, "rollouts")
	rootA, rootB := k.folder(t, "first"), k.folder(t, "first")
	k.run(t, "a", "team=a", rootA)
	k.run(t, "b", "team=b", rootB)
	for i := range 3 {
		k.apply(t, fmt.Sprint("a", i), "team: a", "x")
		k.apply(t, fmt.Sprint("b", i), "team: b", "x")
	}
	k.ready(t, "a0", "a1", "a2", "b0", "b1", "b2")
	before := k.versions(t, "b0")
	k.write(t, rootA, "{{ if eq .metadata.name \"a2\" }}{{ fail \"not this one\" }}{{ end }}bad")
	stopped := k.rollout(t, "a", rollout.Stopped)
	if stopped.Reason != rollout.RenderFailed {
		t.Errorf("it stopped since %s", stopped.Reason)
	}
	k.unchanged(t, "b0", before)

	// The other's rollout goes its way.
	k.write(t, rootB, "second")
	for i := range 3 {
		k.says(t, fmt.Sprint("b", i), "x second")
		k.says(t, fmt.Sprint("a", i), "x first")
	}
	if got := k.record(t, "a"); got.State != rollout.Stopped || got.Target().Digest != stopped.Target().Digest {
		t.Errorf("the rollout of a is %s", got)
	}
	if _, err := approve.Find(t.Context(), cluster.Config, k.name(), k.group+"/b"); err == nil {
		t.Error("b was approved, whose rollout is not stopped")
	}
	stop, err := approve.Find(t.Context(), cluster.Config, k.name(), "")
	if err != nil {
		t.Fatal(err)
	}
	annotate(t, k.crd(t), "rollouts.example.com/by", "another") // the approval is of a stop, and not of a version of the CRD
	if err := stop.Approve(t.Context(), rollout.Approval{}); err != nil {
		t.Fatal(err)
	}
	k.says(t, "a0", "x bad")
	k.says(t, "a1", "x bad")
	k.says(t, "a2", "x first")
	k.says(t, "b0", "x second")
}

// TestApproveWhich: where several rollouts are stopped, one is to be named.
func TestApproveWhich(t *testing.T) {
	k := newThing(t, "which")
	roots := map[string]string{"a": k.folder(t, "first"), "b": k.folder(t, "first")}
	for id, root := range roots {
		k.run(t, id, "team="+id, root)
		k.apply(t, id, "team: "+id, "x")
		k.says(t, id, "x first")
		k.write(t, root, "{{ fail \"never\" }}")
	}
	k.rollout(t, "a", rollout.Stopped)
	k.rollout(t, "b", rollout.Stopped)
	_, err := approve.Find(t.Context(), cluster.Config, k.name(), "")
	if want := fmt.Sprintf("looking at the rollout of %s: rollouts of several installations are stopped: say --installation %s/a or %s/b", k.name(), k.group,
		k.group); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if stop, err := approve.Find(t.Context(), cluster.Config, k.name(), k.group+"/b"); err != nil ||
		stop.Record.Target().Digest != k.record(t, "b").Target().Digest {
		t.Error(stop, err)
	} else if err := stop.Approve(t.Context(), rollout.Approval{}); err != nil {
		t.Error(err)
	}
	if k.record(t, "a").Approved != "" {
		t.Error("a is approved too")
	}

	// A stop that another has taken the place of is not approved.
	stop, err := approve.Find(t.Context(), cluster.Config, k.name(), k.group+"/a")
	if err != nil {
		t.Fatal(err)
	}
	k.write(t, roots["a"], "{{ fail \"not this either\" }}")
	kit.Eventually(t, "the rollout of a stopped for its last folder", func() error {
		if r := k.record(t, "a"); r.State != rollout.Stopped || r.Target().Digest == stop.Record.Target().Digest {
			return fmt.Errorf("it is %s", r)
		}
		return nil
	})
	if err := stop.Approve(t.Context(), rollout.Approval{}); err == nil || !strings.Contains(err.Error(), "the folder changed, from ") {
		t.Errorf("%v, want that the folder changed", err)
	}
}
