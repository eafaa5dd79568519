package rollouts

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// approve runs `jacquard approve` as a person does, and returns what it says.
func (k *thing) approve(t *testing.T, flags ...string) string {
	t.Helper()
	var out, trouble bytes.Buffer
	args := append([]string{"approve", cmp.Or(k.short, k.name()), "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig")}, flags...)
	if code := cli.Main(args, strings.NewReader(""), &out, &trouble); code != 0 {
		t.Fatalf("jacquard approve exits with %d: %s", code, trouble.String())
	}
	return out.String()
}

// TestForcedPast: an approval of what is not ready goes past the resources that it
// named, and the next wave stops again; for all waves it says what that risks. How
// many are not ready stays on record until they are.
func TestForcedPast(t *testing.T) {
	t.Parallel()
	k := newThing(t, "forcedpast", deployment(false))
	k.run(t)
	names := k.many(t, 5)
	k.write(t, deployment(true))
	for wave := range 2 {
		kit.Eventually(t, fmt.Sprintf("wave %d stops", wave+1), func() error {
			r := rollout.Read(k.crd(t).GetAnnotations()["jacquard.dev/rollout"])
			if r.Wave != wave+1 || r.Reason != rollout.NotReady || r.NotReady != wave {
				return fmt.Errorf("the record is %s", r)
			}
			return nil
		})
		if n := k.changed(t); n != wave+1 {
			t.Fatalf("%d Deployments changed", n)
		}
		if wave == 0 {
			k.approve(t)
		}
	}
	if said := k.approve(t, "--all-waves"); !strings.HasPrefix(said, "risks 3 resources") {
		t.Errorf("it says %s", said)
	}
	if r := k.rollout(t, rollout.Complete, ""); r.NotReady != 5 {
		t.Errorf("the record is %s", r)
	}
	for range k.changed(t) {
		cluster.Delete(t, k.apiVersion(), "Thing", k.ns, names[0])
		names = names[1:]
		kit.Eventually(t, "the record leaves it out", func() error {
			if r := rollout.Read(k.crd(t).GetAnnotations()["jacquard.dev/rollout"]); r.NotReady != len(names) {
				return fmt.Errorf("the record is %s", r)
			}
			return nil
		})
	}
}

// TestOnly: single resources are approved, and the rollout stays stopped; the kind
// may be named as for every command.
func TestOnly(t *testing.T) {
	t.Parallel()
	k := newThing(t, "only", sets(""))
	k.short = "onlything"
	kit.Write(t, k.root, map[string]string{"crds/" + k.name() + ".yaml": strings.Replace(kit.ThingCRD(k.group), "singular: thing",
		"singular: thing, shortNames: ["+k.short+"]", 1)})
	k.run(t)
	k.many(t, 3)
	k.write(t, sets("-renamed"))
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	k.deletes(t, 3)
	if said := k.approve(t, "--only", k.ns+"/r01"); !strings.HasPrefix(said, "only "+k.ns+"/r01: ") {
		t.Errorf("it says %s", said)
	}
	k.exists(t, "apps/v1", "StatefulSet", "r01-renamed")
	kit.Eventually(t, "the old one is gone", func() error { return cluster.Gone("apps/v1", "StatefulSet", k.ns, "r01") })
	k.deletes(t, 2)
	k.exists(t, "apps/v1", "StatefulSet", "r00")
	k.exists(t, "apps/v1", "StatefulSet", "r02")
	k.write(t, sets("")) // what was approved is not undone without approval
	k.deletes(t, 1)
	k.exists(t, "apps/v1", "StatefulSet", "r01-renamed")
	k.approve(t)
	k.rollout(t, rollout.Complete, "")
	k.exists(t, "apps/v1", "StatefulSet", "r01")
}
