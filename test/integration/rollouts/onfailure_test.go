package rollouts

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// rollsBack returns a folder that is rolled back if its rollout fails.
func rollsBack(files map[string]string) map[string]string {
	files["kind.yaml"] = strings.Replace(quick, "progressDeadline", "onFailure: rollback, progressDeadline", 1)
	return files
}

// rolledBack returns the rollback on the CRD, or "".
func (k *thing) rolledBack(t *testing.T) string {
	t.Helper()
	return k.crd(t).GetAnnotations()[api.AnnotationRollback]
}

// waitForStatus waits until jacquard status of the operator in a namespace has all these parts.
func (k *thing) waitForStatus(t *testing.T, home string, parts ...string) {
	t.Helper()
	kit.Eventually(t, fmt.Sprintf("status has %q", parts), func() error {
		if got := k.jacquard(t, "status", "--installation", home+"/jacquard"); !all(got, parts) {
			return errors.New(got)
		}
		return nil
	})
}

// TestRollsBackOnFailure: a folder whose Deployments never become ready is rolled back by the
// operator. Once a person releases it, it is tried again, and stays stopped, also after a restart.
// The next folder is rolled out.
func TestRollsBackOnFailure(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "onfailure", said("one", false)), cluster.Namespace(t)
	op := k.at(t, home)
	k.many(t, 8)
	served := k.rollout(t, rollout.Complete, "").Target().Digest
	k.write(t, rollsBack(said("two", true)))
	k.told(t, "RolledBack", "the operator rolled back: not ready again within 5s", "jacquard rollback "+k.name()+" --end")
	k.say(t, map[string]int{"one-hello": 8})
	r := k.rollout(t, rollout.Complete, "")
	if want := fmt.Sprintf("%s %s onFailure", served, r.Failed.Digest); k.rolledBack(t) != want || r.Target().Digest != served {
		t.Errorf("the rollback is %q, want %q; the record is %s", k.rolledBack(t), want, r)
	}
	k.waitForStatus(t, home, "RolledBackOnFailure", "the operator rolled back: not ready again")
	saysThat(t, k.jacquard(t, "history", k.name()), "rolled back to, by the operator", "rolled back from, by the operator; its rollout failed: not ready again")
	kit.Eventually(t, "the CRD has the state", func() error {
		if state := k.crd(t).GetAnnotations()[api.AnnotationState]; !strings.HasPrefix(state, "RolledBackOnFailure") {
			return errors.New(state)
		}
		return nil
	})

	k.jacquard(t, "rollback", k.name(), "--end", "--yes")
	k.rollout(t, rollout.Stopped, rollout.NotReady)
	k.waitForStatus(t, home, "RolloutStopped", "not rolled back again")
	op.Stop(t)
	k.at(t, home)
	k.apply(t, "r07", "edited")
	k.say(t, map[string]int{"two-hello": 1, "one-hello": 6, "one-edited": 1})
	k.waitForStatus(t, home, "RolloutStopped", "not rolled back again")
	if again := k.rollout(t, rollout.Stopped, rollout.NotReady); k.rolledBack(t) != "" || again.Failed != r.Failed {
		t.Errorf("the rollback is %q, the record %s", k.rolledBack(t), again)
	}

	three := said("three", false)
	three["deployment.yaml"] = deployment(false)["deployment.yaml"]
	k.write(t, three)
	k.say(t, map[string]int{"three-hello": 7, "three-edited": 1})
	if r := k.rollout(t, rollout.Complete, ""); r.Failed != (rollout.Failure{}) {
		t.Errorf("the record is %s", r)
	}
}

// TestRefusedRollsBack: content that the API refuses is rolled back, too.
func TestRefusedRollsBack(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "refusedback", config("one")), cluster.Namespace(t)
	k.at(t, home)
	names := k.many(t, 3)
	k.write(t, rollsBack(bad()))
	k.told(t, "RolledBack", "no key!")
	k.ready(t, names...)
	k.allSay(t, "one", 3)
	if r := k.rollout(t, rollout.Complete, ""); !strings.Contains(r.Failed.Message, "no key!") || k.rolledBack(t) == "" {
		t.Errorf("the rollback is %q, the record %s", k.rolledBack(t), r)
	}
}

// TestDeletionsDoNotRollBack: a rollout that waits for the approval of deletions is not rolled back.
func TestDeletionsDoNotRollBack(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "deletesback", claims("-old")), cluster.Namespace(t)
	op := k.at(t, home)
	k.apply(t, "a", "hello")
	k.exists(t, "v1", "PersistentVolumeClaim", "a-old")
	k.rollout(t, rollout.Complete, "")
	k.write(t, rollsBack(claims("-new")))
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	k.waitForStatus(t, home, "RolloutStopped", "it would delete")
	op.Stop(t)
	k.at(t, home)
	k.waitForStatus(t, home, "RolloutStopped", "it would delete")
	k.rollout(t, rollout.Stopped, rollout.Deletes)
	if k.rolledBack(t) != "" {
		t.Errorf("the rollback is %q", k.rolledBack(t))
	}
}

// TestLostRevisionDoesNotRollBack: a rollout stays stopped if the revision before it is lost, and
// the status says so.
func TestLostRevisionDoesNotRollBack(t *testing.T) {
	t.Parallel()
	k, home := newThing(t, "lostback", said("one", false)), cluster.Namespace(t)
	op := k.at(t, home)
	k.many(t, 8)
	served := k.rollout(t, rollout.Complete, "").Target().Digest
	op.Stop(t)
	if err := cluster.Client.DeleteAllOf(t.Context(), &appsv1.ControllerRevision{}, client.InNamespace(home)); err != nil {
		t.Fatal(err)
	}
	k.write(t, rollsBack(said("two", true)))
	k.at(t, home)
	k.rollout(t, rollout.Stopped, rollout.NotReady)
	k.waitForStatus(t, home, "RolloutStopped", "not rolled back: revision "+served+" of its folder is not kept", "jacquard approve")
	if k.rolledBack(t) != "" {
		t.Errorf("the rollback is %q", k.rolledBack(t))
	}
}
