package rollouts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// approve runs `jacquard approve --yes`, and returns what it prints.
func (k *thing) approve(t *testing.T, flags ...string) string {
	t.Helper()
	return k.exits(t, 0, append([]string{"approve", cmp.Or(k.short, k.name()), "--yes"}, flags...)...)
}

// exits runs a command with an exit code, as a script does, and returns what it prints.
func (k *thing) exits(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	args = append(slices.Clone(args), "--kubeconfig", filepath.Join(cluster.Dir, "kubeconfig"))
	if got := cli.Main(args, strings.NewReader("y\n"), &out, &out); got != code {
		t.Fatalf("jacquard %s exits with %d, want %d: %s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

// TestApproveNeedsYes: without a yes nothing is written. Every deletion is named, also
// those that the record has no place for, and the printed command approves these alone.
// Nothing is left of the list once the stop is over.
func TestApproveNeedsYes(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "needsyes", sets("")), cluster.Namespace(t)
	k.at(t, home)
	names := k.many(t, 24)
	k.write(t, sets("-two"))
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	k.deletes(t, 24)
	record := rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"])

	pinned := "approve " + k.name() + " --kubeconfig " + filepath.Join(cluster.Dir, "kubeconfig") + " --stop " + record.Stop + " --yes"
	plan := k.exits(t, 1, "approve", k.name())
	saysThat(t, plan, record.Target().Digest, "deletes 24 StatefulSet", "nothing was changed", pinned)
	list := k.exits(t, 0, "status", "--deletions", k.name())
	for _, name := range names {
		saysThat(t, plan, "\n  "+k.ns+"/"+name+"\n")
		saysThat(t, list, "\n  "+k.ns+"/"+name+"\n")
	}
	saysThat(t, k.exits(t, 0, "approve", k.name(), "--dry-run"), pinned)
	saysThat(t, k.exits(t, 0, "status", "--deletions", k.name(), "-o", "json"), `"stop": "`+record.Stop+`"`, k.ns+"/r23")
	if approval, written := k.crd(t).GetAnnotations()["jacquard.dev/approved"]; written {
		t.Fatalf("it approved %s", approval)
	}
	kit.Eventually(t, "status has the ID of the stop", func() error { // the operator reports its kinds a little later
		if text := k.jacquard(t, "status", "--installation", home+"/jacquard", "-o", "json"); !strings.Contains(text, `"stop": "`+record.Stop+`"`) {
			return errors.New(text)
		}
		return nil
	})

	k.write(t, sets("-three"))
	kit.Eventually(t, "the rollout of the next folder stops", func() error {
		if r := rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"]); r.State != rollout.Stopped || r.Target().Digest == record.Target().Digest {
			return fmt.Errorf("the record is %s", r)
		}
		return nil
	})
	next := rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"])
	saysThat(t, k.exits(t, 1, "approve", k.name(), "--stop", record.Stop, "--yes"), "the folder changed", record.Target().Digest, next.Target().Digest)
	if approval, written := k.crd(t).GetAnnotations()["jacquard.dev/approved"]; written {
		t.Fatalf("it approved %s", approval)
	}
	if n := len(k.lists(t, home)); n != 1 {
		t.Errorf("%d lists of deletions are stored, want that of the present stop", n)
	}

	k.exits(t, 0, "approve", k.name(), "--stop", next.Stop, "--yes")
	k.rollout(t, rollout.Complete, "")
	if all := k.lists(t, home); len(all) != 0 {
		t.Errorf("the stop is over, and these are left: %v", all)
	}
	saysThat(t, k.exits(t, 1, "status", "--deletions", k.name()), "no rollout of it is stopped")
}

// lists are the names of stored lists of deletions.
func (k *thing) lists(t *testing.T, home string) []string {
	t.Helper()
	var found appsv1.ControllerRevisionList
	if err := cluster.Client.List(context.Background(), &found, client.InNamespace(home), client.HasLabels{"jacquard.dev/stop"}); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range found.Items {
		all = append(all, r.Name)
	}
	return all
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
			r := rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"])
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
	if said := k.approve(t, "--all-waves"); !strings.Contains(said, "It risks 3 resources") {
		t.Errorf("it says %s", said)
	}
	if r := k.rollout(t, rollout.Complete, ""); r.NotReady != 5 {
		t.Errorf("the record is %s", r)
	}
	for range k.changed(t) {
		cluster.Delete(t, k.apiVersion(), "Thing", k.ns, names[0])
		names = names[1:]
		kit.Eventually(t, "the record leaves it out", func() error {
			if r := rollout.ParseRecord(k.crd(t).GetAnnotations()["jacquard.dev/rollout"]); r.NotReady != len(names) {
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
	if said := k.approve(t, "--resource", k.ns+"/r01"); !strings.Contains(said, "serves only "+k.ns+"/r01, ") {
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
