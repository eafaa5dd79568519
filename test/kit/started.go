package kit

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// AwaitReconciled waits until the operator has reconciled a resource of a kind since it was
// started. Before that it may be quiet because it has not begun.
func (o *Operator) AwaitReconciled(t testing.TB, kind string) {
	t.Helper()
	Eventually(t, "resources of "+kind+" are reconciled", func() error {
		now, err := countReconciled()
		if err == nil && now[kind] <= o.reconciledBefore[kind] {
			err = fmt.Errorf("no resource has been since the start")
		}
		return err
	})
}

// countReconciled counts, by kind, the reconciliations in this process.
func countReconciled() (map[string]float64, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "controller" {
					all[label.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return all, nil
}
