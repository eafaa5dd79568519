package operator

import (
	"errors"

	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// countForbidden says in metrics how much of what a kind needs watched may not
// be. A kind that has ended is not spoken of any more.
func (o *Operator) countForbidden(r *run) {
	o.counting.Lock()
	defer o.counting.Unlock()
	n := 0
	for gvk := range r.course.children() {
		n += forbidden(o.children.State(gvk))
	}
	for _, scope := range r.course.scopes() {
		n += forbidden(o.reads.State(scope))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.runs[r.name] == r {
		metrics.Kind(r.name).Unwatched(n)
	}
}

func forbidden(s observe.State) int {
	var rule *observe.RuleError
	if errors.As(s.Err, &rule) {
		return 1
	}
	return 0
}
