package reconcile

import (
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// NotePanic counts a panic of a kind, and logs where it was, which no other
// message tells. Of other errors, and of none, it does nothing.
func NotePanic(kind string, err error) {
	if p := panics.In(err); p != nil {
		metrics.Kind(kind).Panicked()
		log.Log.Error(p, "panic", "kind", kind, "stack", p.Stack)
	}
}

// Guard does something for a kind. A panic becomes an error, counted and logged.
func Guard(kind, doing string, do func() error) (err error) {
	defer func() { NotePanic(kind, err) }()
	defer panics.Catch(&err, doing)
	return do()
}

// planOf makes a plan. A panic becomes an error.
func (t *reconciliation) planOf(in plan.Input) (p *plan.Plan, err error) {
	defer panics.Catch(&err, "planning a "+t.r.gvk.Kind)
	return plan.Make(in)
}
