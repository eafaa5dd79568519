package rollouts

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestRepaired: a rollout that stopped for resources which cannot be rendered
// goes on by itself once their author has changed or deleted them.
func TestRepaired(t *testing.T) {
	t.Parallel()
	k := newThing(t, "repaired", config("one"))
	k.run(t)
	k.many(t, 4)
	k.apply(t, "r01", "bad")
	k.apply(t, "r02", "bad")
	k.served(t, "r01", "r02")
	k.write(t, config("{{ if eq .spec.text \"bad\" }}{{ fail \"not so\" }}{{ end }}two"))
	k.rollout(t, "Stopped", "RenderFailed")
	k.says(t, "r01", "RolloutPending", "True", "PreviewFailed")
	k.says(t, "r01", "Ready", "True", "")
	k.allSay(t, "one", 4)
	k.apply(t, "r01", "good")
	cluster.Delete(t, k.apiVersion(), "Thing", k.ns, "r02")
	k.rollout(t, "Complete", "")
	k.allSay(t, "two", 3)
	k.ready(t, "r00", "r01", "r03")
}

// TestTwoStops: to approve that resources stay behind is not to approve of the
// deletions that nobody has been shown yet.
func TestTwoStops(t *testing.T) {
	t.Parallel()
	k := newThing(t, "twostops", claims(""))
	op := k.run(t)
	for _, name := range []string{"r00", "r01"} {
		k.apply(t, name, "hello")
		k.exists(t, "v1", "PersistentVolumeClaim", name)
	}
	k.apply(t, "r01", "bad")
	k.served(t, "r00", "r01")
	files := claims("-renamed")
	files["map.yaml"] = config("{{ if eq .spec.text \"bad\" }}{{ fail \"not so\" }}{{ end }}two")["map.yaml"]
	k.write(t, files)
	k.rollout(t, "Stopped", "RenderFailed")
	k.approve(t)
	k.rollout(t, "Stopped", "Deletes")
	kit.Eventually(t, "the approval is used", func() error {
		if a := k.crd(t).GetAnnotations()["jacquard.dev/approved"]; a != "" {
			return fmt.Errorf("it is %s", a)
		}
		return nil
	})
	op.AwaitQuiet(t)
	k.rollout(t, "Stopped", "Deletes")
	k.allSay(t, "one", 2)
	k.approve(t)
	k.exists(t, "v1", "PersistentVolumeClaim", "r00-renamed")
}

// served waits until the status of resources is that of what their author wrote,
// and until the operator has seen this status itself: one that it has not seen
// yet is edited, and no matter of a rollout. By then it sees a later change.
func (k *thing) served(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		kit.Eventually(t, "the change of "+name+" is served", func() error {
			o, err := cluster.Get(k.apiVersion(), "Thing", k.ns, name)
			if err != nil {
				return err
			}
			if seen, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration"); seen != o.GetGeneration() {
				return fmt.Errorf("generation %d is", seen)
			}
			return nil
		})
		k.annotate(t, name, "jacquard.dev/paused", "true")
		k.says(t, name, "Paused", "True", "")
		k.annotate(t, name, "jacquard.dev/paused", nil)
		k.says(t, name, "Paused", "", "")
	}
}
