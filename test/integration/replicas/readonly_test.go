package replicas

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestReadOnlyCountsAll: an operator that is read-only counts what it would change of all
// resources, however many replicas it has.
func TestReadOnlyCountsAll(t *testing.T) {
	t.Parallel()
	const group, n = "readonly.example.com", 12
	name := "things." + group
	f := newFleet(t, cluster, map[string]string{
		"crds/" + name + ".yaml":          kit.ThingCRD(group),
		"templates/" + name + "/one.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .metadata.name }}'}\ndata: {text: '{{ .spec.text }}'}\n",
	})
	cluster.Apply(t, "", kit.ThingCRD(group))
	t.Cleanup(func() { cluster.Delete(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name) })
	cluster.Served(t, group+"/v1", "Thing")
	for i := range n {
		cluster.Apply(t, cluster.Namespace(t), fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: thing-%d}, spec: {}}", group, i))
	}
	for range 3 {
		f.start("--read-only")
	}
	kit.Eventually(t, "all resources are counted", func() error {
		if said := f.status(); !strings.Contains(said, fmt.Sprintf("%d resources would be changed", n)) {
			return errors.New(said)
		}
		return nil
	})
}
