package children

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const configMap = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  text: {{ .spec.text | default "one" }}
`

// patched is a patch of somebody else's ConfigMap.
const patched = `apiVersion: v1
kind: ConfigMap
metadata:
  name: foreign
  annotations:
    jacquard.dev/ownership: patch
data:
  text: {{ .spec.text | default "one" }}
`

// mixed has a child in the garbage collector's reach, one out of it, and a patch.
func mixed(t *testing.T) *site {
	t.Helper()
	s := ordered(t, map[string]string{"kind.yaml": clusterRoles, "far.yaml": fmt.Sprintf(far, "far"), "map.yaml": configMap,
		"patch.yaml": patched})
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign}, data: {own: text}}")
	s.apply("")
	s.ready()
	s.holds("foreign", "map[own:text text:one]")
	return s
}

// holds waits until a ConfigMap has this data.
func (s *site) holds(name, data string) {
	s.Helper()
	kit.Eventually(s, "ConfigMap "+name+" holds "+data, func() error {
		o, err := cluster.Get("v1", "ConfigMap", s.namespace, name)
		if err == nil && fmt.Sprint(o.Object["data"]) != data {
			err = fmt.Errorf("it holds %v", o.Object["data"])
		}
		return err
	})
}

// orphan deletes the resource and leaves its children, as kubectl delete
// --cascade=orphan does.
func (s *site) orphan() {
	s.Helper()
	if err := cluster.Client.Delete(context.Background(), s.owner(), client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		s.Fatal(err)
	}
}

// stayed says that the children of mixed are there, and stay.
func (s *site) stayed() {
	s.Helper()
	s.gone()
	s.holds("foreign", "map[own:text]")
	s.operator.AwaitQuiet(s)
	o := s.get("v1", "ConfigMap", "a")
	if len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil {
		s.Errorf("the child is %v", o)
	}
}

// TestOrphan: whoever deletes a resource and orphans its children keeps all of
// them, and a resource of that name takes them over again.
func TestOrphan(t *testing.T) {
	s := mixed(t)
	old := s.get("v1", "ConfigMap", "a")
	s.orphan()
	s.stayed()
	if s.get(rbac, "ClusterRole", s.namespace+"-a-far").GetDeletionTimestamp() != nil {
		s.Error("the ClusterRole goes")
	}
	s.apply("text: two")
	s.rests("", append(s.far("far"), "ConfigMap/a")...)
	s.holds("a", "map[text:two]")
	if s.get("v1", "ConfigMap", "a").GetUID() != old.GetUID() {
		t.Error("the child was recreated")
	}
	s.goes()
	s.away("v1", "ConfigMap", s.namespace, "a")
	s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
}

// TestOrphanUnseen: the same while no operator runs, so that nobody sees the
// garbage collector orphan them: that is inferred, and permissions go all the same.
func TestOrphanUnseen(t *testing.T) {
	s := mixed(t)
	s.operator.Stop(t)
	s.orphan()
	s.orphaned()
	s.start()
	s.stayed()
	s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
}

// orphaned waits until the garbage collector has orphaned the children, and has
// taken the finalizer off that says so.
func (s *site) orphaned() {
	s.Helper()
	kit.Eventually(s, "the garbage collector is done", func() error {
		if f := s.owner().GetFinalizers(); len(f) != 1 {
			return fmt.Errorf("finalizers %v", f)
		}
		return nil
	})
}

// TestOrphanIsNoted: that the children are to stay is known to the next operator
// too, where the deletion waits for something and no child bears witness.
func TestOrphanIsNoted(t *testing.T) {
	s := ordered(t, map[string]string{"kind.yaml": clusterRoles, "far.yaml": fmt.Sprintf(far, "far"), "patch.yaml": patched})
	cluster.Apply(t, s.namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign}, data: {own: text}}")
	s.apply("text: one")
	s.rests("", s.far("far")...)
	s.patch(s.get("v1", "ConfigMap", "foreign"), `{"immutable":true}`) // so the patch cannot be given back
	s.orphan()
	s.is("Ready", "False", "ReleaseFailed")
	s.orphaned()
	s.operator.Stop(t)
	s.start()
	s.gone()
	if s.get(rbac, "ClusterRole", s.namespace+"-a-far").GetDeletionTimestamp() != nil {
		t.Error("the ClusterRole goes")
	}
}

// TestStuckWhileLeaving: a resource does not go before a child that somebody
// holds, says which, and goes once it is let go.
func TestStuckWhileLeaving(t *testing.T) {
	s := mixed(t)
	held := s.get(rbac, "ClusterRole", s.namespace+"-a-far")
	s.patch(held, `{"metadata":{"finalizers":["example.com/held"]}}`)
	s.leave()
	s.is("Ready", "False", "ClusterRole NAMESPACE-a-far")
	s.operator.AwaitQuiet(s)
	s.is("Ready", "False", "ClusterRole NAMESPACE-a-far")
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.gone()
	s.holds("foreign", "map[own:text]")
}

// TestStuckWhileWanted: a child that somebody holds while it is deleted, out of
// the garbage collector's reach and wanted again, is recreated once it is let go.
func TestStuckWhileWanted(t *testing.T) {
	s := mixed(t)
	held := s.get(rbac, "ClusterRole", s.namespace+"-a-far")
	s.patch(held, `{"metadata":{"finalizers":["example.com/held"]}}`)
	cluster.Delete(t, rbac, "ClusterRole", "", held.GetName())
	s.is("Ready", "False", "being deleted")
	s.apply("text: two")
	s.holds("a", "map[text:two]")
	s.is("Ready", "False", "being deleted")
	s.patch(held, `{"metadata":{"finalizers":null}}`)
	s.ready()
	if now := s.get(rbac, "ClusterRole", held.GetName()); now.GetUID() == held.GetUID() {
		t.Error("it is the old one")
	}
	s.goes()
}

// TestNamespaceGoes: a resource whose namespace is deleted is not in its way.
func TestNamespaceGoes(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(*testing.T) *site{
		"far children": mixed,
		"in order":     func(t *testing.T) *site { s, _ := buildStore(t, ""); return s },
		"in a Namespace of its own": func(t *testing.T) *site {
			s := ordered(t, map[string]string{
				"kind.yaml":  "children:\n- {apiVersion: v1, kind: Namespace}\n- {apiVersion: v1, kind: ConfigMap, namespaces: rendered}\n",
				"space.yaml": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ .metadata.namespace }}-far\n  annotations:\n    jacquard.dev/on-delete: delete\n",
				"map.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: far\n  namespace: {{ .metadata.namespace }}-far\n",
			})
			s.apply("")
			s.rests("", "Namespace/"+s.namespace+"-far", "ConfigMap/"+s.namespace+"-far/far")
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := build(t)
			cluster.Delete(t, "v1", "Namespace", "", s.namespace)
			s.away("v1", "Namespace", "", s.namespace)
			s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
			s.away("v1", "Namespace", "", s.namespace+"-far")
		})
	}
}
