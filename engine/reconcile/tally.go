package reconcile

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// Begin makes the kind known in metrics; whoever ends the kind ends them.
func (r *Reconciler) Begin() {
	var labels []string
	for cause, policy := range refusalPolicies {
		if cause.IsAnswer() {
			labels = append(labels, policy.label)
		}
	}
	slices.Sort(labels)
	metrics.Kind(r.name).Begin(labels)
}

// countResult counts a reconciliation that ended before it began.
func countResult(kind string, err error) {
	if err != nil {
		metrics.Kind(kind).Reconciled(metrics.Failed)
		return
	}
	metrics.Kind(kind).Reconciled(metrics.Done)
}

// countReconciliation counts the reconciliation. One that decided nothing is still to come.
func (t *reconciliation) countReconciliation(name types.NamespacedName, since time.Time, err error) {
	kind := metrics.Kind(t.r.name)
	kind.Reconciled(t.resultOf(err))
	if t.subject.Version.Kind != nil {
		kind.LookedUp(t.subject.Version.Kind.Templates.CacheUse())
	}
	switch {
	case since.IsZero():
	case t.wrote:
		kind.Applied(time.Since(since))
		if t.undone {
			kind.Undone(time.Since(since))
		}
	case t.pending:
		t.r.restoreEventTime(name, since)
	}
}

// resultOf returns what came of the reconciliation.
func (t *reconciliation) resultOf(err error) metrics.Result {
	if err != nil || t.failed {
		return metrics.Failed
	}
	worst := metrics.Done
	if t.pending {
		worst = metrics.Waiting
	}
	for _, p := range t.found.problems {
		worst = metrics.Worse(worst, resultOfProblem(p))
	}
	return worst
}

// resultOfProblem returns what comes of a reconciliation that has one problem.
func resultOfProblem(p status.Problem) metrics.Result {
	switch {
	case p.Severity == status.Stalled:
		return metrics.Stalled
	case p.Severity == status.Waiting:
		return metrics.Waiting
	case isForbidden(p.Reason):
		return metrics.Denied
	}
	return metrics.Failed
}

// countKept returns how many children of a plan need no request.
func countKept(p *plan.Plan) (n int) {
	for i := range p.Steps {
		if p.Steps[i].Action == plan.Keep {
			n++
		}
	}
	return n
}

// countSkipped counts the children of a plan that need no request.
func (t *pass) countSkipped(p *plan.Plan) {
	if t.mode == writes {
		metrics.Kind(t.r.name).Skipped(countKept(p))
	}
}

// countRequest counts a request that changed something of the resource.
func (t *pass) countRequest(o metrics.Operation) {
	if t.isDry() {
		return
	}
	metrics.Kind(t.r.name).Wrote(o)
	t.memory.writes++
	t.memory.lastWrite = t.r.now()
}

// countWrite counts a request that changed a child or a patched object.
func (t *pass) countWrite(w plan.Write) {
	t.countRequest(metrics.Operation(w))
	t.wrote = true
}

// countRefusal counts a write that the API server refused; other errors are none.
func (t *pass) countRefusal(err error) {
	var refusal *refusals.Refusal
	if t.mode == writes && errors.As(err, &refusal) && refusal.Cause.IsAnswer() {
		metrics.Kind(t.r.name).Refused(refusalPolicies[refusal.Cause].label)
	}
}

// countCorrected counts an object whose fields were taken back from other managers.
func (t *pass) countCorrected(takers []string) {
	if t.mode == writes {
		t.undone = true
		metrics.Kind(t.r.name).Corrected(takers)
	}
}

// countStanding says what the resource counts as from now on.
func (t publisher) countStanding(out status.Output) {
	if out.Status == nil { // it could not be made
		return
	}
	now := standingOf(&unstructured.Unstructured{Object: map[string]any{"status": out.Status}}, t.found.problems, t.r.cluster.ReadOnly)
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	metrics.Kind(t.r.name).Stands(t.memory.standing, now)
	t.memory.standing = now
}

// standingOf returns what a resource counts as by its status. One that has none yet is
// not ready.
func standingOf(resource *unstructured.Unstructured, problems []status.Problem, isReadOnly bool) metrics.Standing {
	s := metrics.Standing{Conditions: []string{"NotReady"}}
	conditions, _, _ := unstructured.NestedFieldNoCopy(resource.Object, "status", "conditions")
	all, _ := conditions.([]any)
	for _, item := range all {
		c, _ := item.(map[string]any)
		switch kind, _ := c["type"].(string); {
		case c["status"] != "True":
		case kind == "Ready":
			s.Conditions[0] = kind
		case kind == "Reconciling" || kind == "Stalled" || kind == "Paused":
			s.Conditions = append(s.Conditions, kind)
		}
	}
	for _, p := range problems {
		s.Problems = append(s.Problems, p.Reason)
	}
	slices.Sort(s.Problems)
	s.Problems = slices.Compact(s.Problems)
	explained := func(reason string) bool { return reason == api.ReasonChildrenUnknown || isForbidden(reason) }
	s.IsWaiting = s.Conditions[0] == "NotReady" && !isReadOnly && !slices.Contains(s.Conditions, "Stalled") &&
		!slices.Contains(s.Conditions, "Paused") && !slices.ContainsFunc(s.Problems, explained)
	return s
}
