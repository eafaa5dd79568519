package children

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestPaused: a paused resource, or one of a paused kind, is observed and not
// changed; once it goes on, everything is set right. Deleting it works.
func TestPaused(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]func(*site) *unstructured.Unstructured{
		"resource": (*site).owner,
		"kind": func(s *site) *unstructured.Unstructured {
			return s.get(crds, "CustomResourceDefinition", "things."+s.group)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mixed(t)
			all := append(s.far("far"), "ConfigMap/a")
			s.patch(on(s), `{"metadata":{"annotations":{"jacquard.dev/paused":"true"}}}`)
			s.is("Paused", "True", "")
			mark := cluster.Mark(t)
			s.apply("text: two")
			s.is("Ready", "Unknown", "Paused")
			cluster.Delete(t, rbac, "ClusterRole", "", s.namespace+"-a-far")
			s.patch(s.get("v1", "ConfigMap", "a"), `{"data":{"text":"drifted"}}`)
			s.patch(s.get("v1", "ConfigMap", "foreign"), `{"data":{"text":"drifted"}}`)
			s.is("Ready", "False", "ChildrenNotReady")
			s.is("Paused", "True", "NotApplied")
			s.operator.AwaitQuiet(t)
			s.holds("a", "map[text:drifted]")
			s.holds("foreign", "map[own:text text:drifted]")
			for _, r := range kit.Writes(s.sent(mark)) {
				if r.Resource != "things/status" {
					t.Errorf("while it is paused, the operator sent %s", r)
				}
			}
			s.patch(on(s), `{"metadata":{"annotations":{"jacquard.dev/paused":null}}}`)
			kit.Eventually(t, "it is not paused", func() error { return kit.IsCondition(s.owner(), "Paused", "", "") })
			s.holds("a", "map[text:two]")
			kit.Eventually(t, "the child is recreated", func() error {
				_, err := cluster.Get(rbac, "ClusterRole", "", s.namespace+"-a-far")
				return err
			})
			s.patch(s.get("v1", "ConfigMap", "foreign"), `{"data":{"text":null}}`) // a patch is not forced
			s.rests("", all...)
			s.is("Ready", "True", "")
			s.patch(on(s), `{"metadata":{"annotations":{"jacquard.dev/paused":"true"}}}`)
			s.is("Paused", "True", "")
			s.goes()
			s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
			s.holds("foreign", "map[own:text]")
		})
	}
}

// TestGoneWhilePaused: a paused resource is as ready as the children that it had
// when it was paused. One that is deleted stays gone and is told of, also by an
// operator that starts later; a Job that succeeded may go.
func TestGoneWhilePaused(t *testing.T) {
	s, _ := buildStore(t, "")
	s.away("batch/v1", "Job", s.namespace, "a-migrate")
	s.rests("", inStore...) // the pause is of a resource that is applied
	s.annotate("jacquard.dev/paused", "true")
	s.is("Paused", "True", "")
	s.rests("", inStore...)
	cluster.Delete(t, "apps/v1", "Deployment", s.namespace, "a")
	s.is("Ready", "False", "Deployment a: it is gone")
	left := slices.DeleteFunc(slices.Clone(inStore), func(name string) bool { return name == "Deployment/a" })
	s.rests("ChildrenNotReady", left...)
	s.operator.Stop(t)
	s.again()
	s.rests("Deployment a: it is gone", left...)
	s.annotate("jacquard.dev/paused", "")
	s.is("Paused", "", "")
	s.rests("", inStore...)
}

// TestReconcileAt: what was refused is not tried again before long, unless a
// person asks for it. A dry run then finds out whether a new object would be refused too.
func TestReconcileAt(t *testing.T) {
	s := ordered(t,
		map[string]string{"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\nimmutable: true\ndata:\n  text: {{ .spec.text }}\n"})
	s.apply("text: one")
	s.ready()
	s.apply("text: two")
	s.rests("map.yaml:", "ConfigMap/a")
	for i := range 3 {
		mark := cluster.Mark(t)
		s.annotate("jacquard.dev/reconcile-at", fmt.Sprint("time ", i))
		kit.Eventually(t, "it is tried again", func() error {
			if n := kit.Tally(s.sent(mark))["patch configmaps"]; n != 2 {
				return fmt.Errorf("%d times", n)
			}
			return nil
		})
		s.rests("map.yaml:", "ConfigMap/a")
	}
}
