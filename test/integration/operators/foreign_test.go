package operators

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// metric sums up what a metric of the kind has with these labels.
func (k *thing) metric(t *testing.T, name string, with map[string]string) (n float64) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			about := map[string]string{}
			for _, l := range m.GetLabel() {
				about[l.GetName()] = l.GetValue()
			}
			matches := f.GetName() == name && about["kind"] == k.name()
			for label, value := range with {
				matches = matches && about[label] == value
			}
			if matches {
				n += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return n
}

// TestOwnerElsewhere: an object that names an owner in a namespace which is not
// served here is none of this installation's business.
func TestOwnerElsewhere(t *testing.T) {
	k := newThing(t, "ownerelsewhere")
	k.run(t, "a", "", k.folder(t, "now"), k.ns, k.far)
	elsewhere := cluster.Namespace(t)
	k.apply(t, "one", "", "x")
	k.ready(t, "one")
	for i := range 5 {
		cluster.Apply(t, k.ns,
			fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: copied%d, labels: {%s: \"1234\"}, annotations: {%s: %s/%s/there%d}}}",
				i, api.LabelOwnerUID, api.AnnotationOwner, k.name(), elsewhere, i))
	}
	// What comes later through the same watch has been seen to.
	cluster.Delete(t, "v1", "ConfigMap", k.ns, "one")
	k.says(t, "one", "x now")
	k.ready(t, "one")
	if n := k.metric(t, "jacquard_reconciliations_total", map[string]string{"result": "failed"}); n != 0 {
		t.Errorf("%g looks failed at owners that are not served here", n)
	}
}
