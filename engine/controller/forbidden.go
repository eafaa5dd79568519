package controller

import (
	"errors"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// countForbidden says in metrics how much of what a kind needs watched may not
// be. A kind that has ended is not spoken of any more.
func (o *Operator) countForbidden(r *kindController) {
	o.counting.Lock()
	defer o.counting.Unlock()
	_, n := r.resources.troubles()
	for gvk := range r.versions.children() {
		n += forbidden(o.children.State(gvk))
	}
	for _, scope := range r.versions.scopes() {
		n += forbidden(o.reads.State(scope))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen(r.name).controller == r {
		metrics.Kind(r.name).Unwatched(n)
	}
}

func forbidden(s live.State) int {
	var rule *live.RuleError
	if errors.As(s.Err, &rule) {
		return 1
	}
	return 0
}
