package kit

import (
	"fmt"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// AwaitReconciled waits until the operator has reconciled a resource of a kind since it was
// started. Before that it may be quiet because it has not begun.
func (o *Operator) AwaitReconciled(t testing.TB, kind string) {
	t.Helper()
	Eventually(t, "resources of "+kind+" are reconciled", func() error {
		now, err := sumByKind(reconciled)
		if err == nil && now[kind] <= o.reconciledBefore[kind] {
			err = fmt.Errorf("no resource has been since the start")
		}
		return err
	})
}

// reconciled is controller-runtime's counter of reconciliations.
const reconciled = "controller_runtime_reconcile_total"

// sumByKind sums counters and gauges of this process by the kind that a label of theirs names.
func sumByKind(named ...string) (map[string]float64, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	for _, family := range families {
		if !slices.Contains(named, family.GetName()) {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "kind" || l.GetName() == "controller" {
					sums[l.GetValue()] += m.GetCounter().GetValue() + m.GetGauge().GetValue() // it has one of the two
				}
			}
		}
	}
	return sums, nil
}
