package children

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const crds = "apiextensions.k8s.io/v1"

// TestCRDGoes: a CRD that is deleted takes its resources with it, and they the
// children that the garbage collector does not reach. (Those in its reach it may
// only collect once it can look for their owner again: when there is a CRD.)
func TestCRDGoes(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]struct{ before, meanwhile func(*site) }{
		"under a running operator": {func(*site) {}, func(*site) {}},
		"while none runs":          {func(s *site) { s.operator.Stop(s) }, (*site).start},
	} {
		t.Run(name, func(t *testing.T) {
			s := mixed(t)
			how.before(s)
			definition := s.definition()
			cluster.Delete(t, crds, "CustomResourceDefinition", "", "things."+s.group)
			how.meanwhile(s)
			s.away(crds, "CustomResourceDefinition", "", "things."+s.group)
			s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
			s.holds("foreign", "map[own:text]")
			cluster.Apply(t, "", definition)
			kit.Eventually(t, "a new resource is served", func() error {
				return cluster.Client.Create(t.Context(), s.resource())
			})
			s.rests("", append(s.far("far"), "ConfigMap/a")...)
			s.goes()
		})
	}
}

// definition is the text of the kind's CRD.
func (s *site) definition() string {
	s.Helper()
	return s.text("crds/things.example.com.yaml")
}

func (s *site) resource() *unstructured.Unstructured {
	return kit.Parse(s, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: a, namespace: %s}, spec: {}}", s.apiVersion(), s.kind,
		s.namespace))[0]
}

// gadgetFile renders a child of a kind that a CRD brings.
const gadgetFile = `apiVersion: gadgets.example.com/v1
kind: Gadget
metadata:
  name: {{ .metadata.namespace }}-gadget
spec:
  text: one
`

// gadgets is the CRD of that kind.
func (s *site) gadgets(scope string) string {
	s.Helper()
	return strings.NewReplacer("things."+s.group, "gadgets.gadgets."+s.group, "group: "+s.group, "group: gadgets."+s.group, "Thing", "Gadget",
		"things", "gadgets", "thing", "gadget", "scope: Namespaced", "scope: "+scope).Replace(s.definition())
}

// TestChildCRD: the CRD of a cluster-scoped child is missing, comes, goes, and
// comes again with another scope. Nothing else of the resource suffers, nothing
// is left over, and the resource can always go.
func TestChildCRD(t *testing.T) {
	s := ordered(t, map[string]string{
		"kind.yaml":   clusterRoles + "- {apiVersion: gadgets.example.com/v1, kind: Gadget}\n",
		"gadget.yaml": gadgetFile, "map.yaml": configMap, "far.yaml": fmt.Sprintf(far, "far"),
	})
	api, crd := "gadgets."+s.group+"/v1", "gadgets.gadgets."+s.group
	gadgetName := s.namespace + "-gadget"
	s.apply("")
	s.rests("the cluster has no gadgets.example.com/v1 Gadget", append(s.far("far"), "ConfigMap/a")...)
	cluster.Apply(t, "", s.gadgets("Cluster"))
	cluster.Served(t, api, "Gadget")
	s.is("Ready", "False", "") // declares conditions, and has none
	kit.Eventually(t, "the gadget is made", func() error { _, err := cluster.Get(api, "Gadget", "", gadgetName); return err })
	cluster.Delete(t, crds, "CustomResourceDefinition", "", crd)
	s.away(crds, "CustomResourceDefinition", "", crd)
	s.rests("the cluster has no gadgets.example.com/v1 Gadget", append(s.far("far"), "ConfigMap/a")...)
	cluster.Apply(t, "", s.gadgets("Namespaced"))
	cluster.Served(t, api, "Gadget")
	kit.Eventually(t, "the gadget is made in the resource's namespace", func() error {
		anew, err := client.New(cluster.Config, client.Options{}) // the old one remembers the scope
		if err != nil {
			return err
		}
		o := kit.Parse(s, s.ours("{apiVersion: gadgets.example.com/v1, kind: Gadget}"))[0]
		return anew.Get(t.Context(), types.NamespacedName{Namespace: s.namespace, Name: gadgetName}, o)
	})
	s.rests("no conditions yet", append(s.far("far"), "ConfigMap/a")...)
	s.goes()
	s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
	cluster.Delete(t, crds, "CustomResourceDefinition", "", crd)
}

// TestLeaveWithoutChildCRD: a resource goes while the CRD of one of its
// children is not there.
func TestLeaveWithoutChildCRD(t *testing.T) {
	s := ordered(t, map[string]string{
		"kind.yaml":   clusterRoles + "- {apiVersion: gadgets.example.com/v1, kind: Gadget}\n",
		"gadget.yaml": gadgetFile, "far.yaml": fmt.Sprintf(far, "far"),
	})
	api, crd := "gadgets."+s.group+"/v1", "gadgets.gadgets."+s.group
	cluster.Apply(t, "", s.gadgets("Cluster"))
	cluster.Served(t, api, "Gadget")
	s.apply("")
	kit.Eventually(t, "the gadget is made", func() error { _, err := cluster.Get(api, "Gadget", "", s.namespace+"-gadget"); return err })
	cluster.Delete(t, crds, "CustomResourceDefinition", "", crd)
	s.away(crds, "CustomResourceDefinition", "", crd)
	s.goes()
	s.away(rbac, "ClusterRole", "", s.namespace+"-a-far")
}
