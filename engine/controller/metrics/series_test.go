package metrics

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// A sample is one series of a counter, gauge or histogram, and its value: of a
// histogram, how much was observed.
type sample struct {
	labels map[string]string
	value  float64
}

// series are those of a metric that are about a kind.
func series(t *testing.T, name, kind string) (all []sample) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			s := sample{labels: map[string]string{}}
			for _, l := range m.GetLabel() {
				s.labels[l.GetName()] = l.GetValue()
			}
			s.value = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			if s.labels["kind"] == kind {
				all = append(all, s)
			}
		}
	}
	return all
}
