package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A pendingDelete is a child that was to be deleted, or a patch that was to be released, and
// that the watch still shows.
type pendingDelete struct {
	tries int
	// again is when to try again; zero: it was done.
	again   time.Time
	problem status.Problem
	// release is the patch that is to be released, or nil; forbidden: no right
	// allows that.
	release   *plan.Release
	forbidden bool
	// refused is when the API first refused the object that would be left, or
	// zero; dropped: our entry is off it since; told: that it was let go.
	refused            time.Time
	dropped, announced bool
}

// releaseLimit is how long the resource tells of a patch that cannot be released,
// and waits with it.
const releaseLimit = 10 * time.Minute

// released reports whether a patch that cannot be released is waited for no more.
func (e *pendingDelete) released(now time.Time) bool {
	return !e.refused.IsZero() && now.Sub(e.refused) >= releaseLimit
}

// duePrunes returns the plan with those deletions and releases that are due and approved, and
// what the others wait for.
func (t *reconciliation) duePrunes(p *plan.Plan) (due *plan.Plan, waiting []status.Problem) {
	out := *p
	out.Prune, out.Release = nil, nil
	if t.found.incomplete || !p.IsComplete() {
		return &out, nil
	}
	isApproved := func(l live.Object) bool {
		err := t.mayDelete(l.GVK.GroupKind(), l.Meta)
		if err != nil {
			waiting = append(waiting, status.Problem{Severity: status.Waiting, Reason: api.ReasonWaitsForApproval, Message: err.Error()})
		}
		return err == nil
	}
	now := t.r.now()
	for _, l := range p.Prune {
		if isApproved(l) && t.known.failures.pendingDeletes[deleteKey(l)].isDue(now) { // all are asked about
			out.Prune = append(out.Prune, l)
		}
	}
	for _, l := range p.RetainedFor(plan.StillUsed) { // their deletion counts for the rollout that replaces them
		isApproved(l)
	}
	for _, r := range p.Release {
		if t.known.failures.pendingDeletes[releaseKey(r)].isDue(now) {
			out.Release = append(out.Release, r)
		}
	}
	return &out, waiting
}

func deleteKey(l live.Object) string { return string(l.Meta.GetUID()) }

func releaseKey(r plan.Release) string {
	return string(plan.PatchKey(r.Live.Meta.GetUID(), r.Subresource))
}

// isDue reports whether a deletion or release is to be sent now.
func (e *pendingDelete) isDue(now time.Time) bool {
	return e == nil || !e.again.IsZero() && !e.dropped && !e.released(now) && !now.Before(e.again)
}

// learnDelete records what became of the deletion of a child.
func (t *reconciliation) learnDelete(r *plan.Result) {
	e := t.pendingDelete(deleteKey(*r.Object))
	if len(r.Writes) > 0 {
		t.known.failures.progressed()
		if !t.subject.deleting() {
			t.pruned = append(t.pruned, plan.RefOf(*r.Object).String())
		}
	}
	t.learnPrune(e, r, status.Problem{Severity: status.Retry, Reason: api.ReasonPruneFailed})
}

// learnRelease records what became of the release of a patch.
func (t *reconciliation) learnRelease(r *plan.Result) {
	e := t.pendingDelete(releaseKey(*r.Release))
	if r.Answer != nil && !t.isDry() {
		t.r.cluster.Reads.RecordWrite(r.Release.Live.GVK, r.Answer)
	}
	p := status.Problem{Severity: status.Retry, Reason: api.ReasonPruneFailed}
	if r.Err != nil {
		refusal := apply.Classify(r.Err)
		e.release, e.forbidden, e.dropped = r.Release, refusal.Cause == apply.Forbidden, r.Dropped
		if refusal.Cause == apply.Invalid || refusal.Cause.IsDenied() {
			p.Severity, p.Reason = status.Waiting, api.ReasonNotGivenBack
			if e.refused.IsZero() {
				e.refused = t.r.now()
			}
		}
	}
	t.learnPrune(e, r, p)
}

func (t *reconciliation) pendingDelete(key string) *pendingDelete {
	e := t.known.failures.pendingDeletes[key]
	if e == nil {
		e = &pendingDelete{}
		t.known.failures.pendingDeletes[key] = e
	}
	return e
}

// learnPrune records when to try again what failed; p describes it, but for the message.
func (t *reconciliation) learnPrune(e *pendingDelete, r *plan.Result, p status.Problem) {
	if r.Err == nil {
		e.again = time.Time{}
		return
	}
	t.countRefusal(r.Err)
	p.Message = r.Err.Error()
	e.problem = p
	e.again = t.r.now().Add(backOff(e.tries, apply.Classify(r.Err).RetryAfter, longWait))
	e.tries++
}

// reportPrunes reports what waits to be deleted or released, and forgets what has ended.
func (t *reconciliation) reportPrunes(p *plan.Plan, waiting []status.Problem) {
	t.reportProtected(p)
	t.found.problems = append(t.found.problems, waiting...)
	open, now := map[string]bool{}, t.r.now()
	for _, l := range p.Prune {
		open[deleteKey(l)] = true
		t.reportPending(deleteKey(l), now)
	}
	for _, r := range p.Release {
		open[releaseKey(r)] = true
		t.reportPending(releaseKey(r), now)
	}
	if p == t.stuck { // it does not know all that ends
		return
	}
	maps.DeleteFunc(t.known.failures.pendingDeletes, func(key string, e *pendingDelete) bool { return !open[key] && t.deleteEnded(e) })
}

// reportPending reports a deletion or release that failed, or that is waited for no more.
func (t *reconciliation) reportPending(key string, now time.Time) {
	switch e := t.known.failures.pendingDeletes[key]; {
	case e == nil || e.again.IsZero():
	case e.released(now):
		t.announceReleased(e)
	default:
		t.waitsFor(e, now)
	}
}

// deleteEnded reports whether there is nothing more to tell of an ending that the plan
// does not have any more.
func (t *reconciliation) deleteEnded(e *pendingDelete) bool {
	now := t.r.now()
	switch {
	case e.dropped && !e.released(now):
		t.waitsFor(e, now)
		return false
	case e.dropped, e.forbidden && !slices.Contains(t.subject.version.Patched, e.release.Live.GVK):
		t.announceReleased(e)
	}
	return true
}

func (t *reconciliation) waitsFor(e *pendingDelete, now time.Time) {
	t.found.add(e.problem)
	if e.dropped {
		t.found.again(e.refused.Add(releaseLimit).Sub(now))
		return
	}
	t.found.again(e.again.Sub(now))
}

// reportProtected reports the children that may only be deleted once the resource allows it.
func (t *reconciliation) reportProtected(p *plan.Plan) {
	for _, l := range p.RetainedFor(plan.HoldsData) {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonPruneHeld, Message: fmt.Sprintf(
			"%s is not rendered any more and is kept, since what is in it would be lost; to delete it, annotate this resource with %s=%s",
			plan.RefOf(l), api.AnnotationAllowPrune, plan.Allowance(l.GVK.GroupKind(), l.Meta))})
	}
}

// place is namespace/name, or the name of what has no namespace.
func place(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
