package reconcile

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

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
		if isApproved(l) && t.isDue(deleteKey(l), now) { // all are asked about
			out.Prune = append(out.Prune, l)
		}
	}
	for _, l := range p.RetainedFor(plan.StillUsed) { // their deletion counts for the rollout that replaces them
		isApproved(l)
	}
	for _, r := range p.Release {
		if t.isDue(releaseKey(r), now) {
			out.Release = append(out.Release, r)
		}
	}
	return &out, waiting
}

func deleteKey(l live.Object) plan.Key {
	return plan.Key{Operation: plan.OpDelete, Ref: plan.RefOf(l), UID: l.Meta.GetUID()}
}

func releaseKey(r plan.Release) plan.Key {
	ref := plan.RefOf(r.Live)
	ref.IsPatch, ref.Subresource = true, r.Subresource
	return plan.Key{Operation: plan.OpRelease, Ref: ref, UID: r.Live.Meta.GetUID()}
}

// isDue reports whether a deletion or release is to be sent now.
func (t *reconciliation) isDue(k plan.Key, now time.Time) bool {
	at := t.known.failures.attempts[k]
	isRefused := at != nil && at.Refused != nil && (at.Refused.IsDropped || at.Refused.IsOver(now))
	return !isRefused && t.known.failures.attempts.Blocking(k, "", now) == nil
}

// learnDelete records what became of the deletion of a child.
func (t *reconciliation) learnDelete(r *plan.Result) {
	if len(r.Writes) > 0 {
		t.known.failures.attempts.ForgetRepeats()
		if !t.subject.deleting() {
			t.pruned = append(t.pruned, plan.RefOf(*r.Object).String())
		}
	}
	t.learnPrune(deleteKey(*r.Object), r)
}

// learnRelease records what became of the release of a patch.
func (t *reconciliation) learnRelease(r *plan.Result) {
	if r.Answer != nil && !t.isDry() {
		t.r.cluster.Reads.RecordWrite(r.Release.Live.GVK, r.Answer)
	}
	k := releaseKey(*r.Release)
	refused := &plan.RefusedRelease{Release: *r.Release, IsDropped: r.Dropped}
	if before := t.known.failures.attempts[k]; before != nil && before.Refused != nil {
		refused.At = before.Refused.At
	}
	at := t.learnPrune(k, r)
	if at == nil {
		return
	}
	refusal := apply.Classify(r.Err)
	if refused.IsForbidden = refusal.Cause == apply.Forbidden; refusal.Cause == apply.Invalid || refusal.Cause.IsDenied() {
		at.Problem.Severity, at.Problem.Reason = status.Waiting, api.ReasonNotGivenBack
		if refused.At.IsZero() {
			refused.At = t.r.now()
		}
	}
	at.Refused = refused
}

// learnPrune records that something was sent, or when to try again what failed, and returns
// the latter; nil if nothing failed.
func (t *reconciliation) learnPrune(k plan.Key, r *plan.Result) *plan.Attempt {
	if r.Err == nil {
		t.known.failures.attempts.AwaitWatch(k)
		return nil
	}
	t.countRefusal(r.Err)
	retry := plan.Retry{Min: apply.Classify(r.Err).RetryAfter, Max: longWait}
	at := t.known.failures.attempts.Fail(k, "", retry, t.r.now())
	at.Problem = status.Problem{Severity: status.Retry, Reason: api.ReasonPruneFailed, Message: r.Err.Error()}
	return at
}

// reportPrunes reports what waits to be deleted or released, and forgets what has ended.
func (t *reconciliation) reportPrunes(p *plan.Plan, waiting []status.Problem) {
	t.reportProtected(p)
	t.found.problems = append(t.found.problems, waiting...)
	planned, now := map[plan.Key]bool{}, t.r.now()
	for _, l := range p.Prune {
		planned[deleteKey(l)] = true
		t.reportPending(deleteKey(l), now)
	}
	for _, r := range p.Release {
		planned[releaseKey(r)] = true
		t.reportPending(releaseKey(r), now)
	}
	if p == t.stuck { // it does not know all that ends
		return
	}
	for k, at := range t.known.failures.attempts {
		isPrune := k.Operation == plan.OpDelete || k.Operation == plan.OpRelease
		if isPrune && !planned[k] && t.hasEnded(at, now) {
			delete(t.known.failures.attempts, k)
		}
	}
}

// reportPending reports a deletion or release that failed, or that is waited for no more.
func (t *reconciliation) reportPending(k plan.Key, now time.Time) {
	switch at := t.known.failures.attempts[k]; {
	case at == nil || at.Next.IsZero():
	case at.Refused.IsOver(now):
		t.announceReleased(at)
	default:
		t.reportAttempt(at, now)
	}
}

// reportAttempt reports a deletion or release that failed.
func (t *reconciliation) reportAttempt(at *plan.Attempt, now time.Time) {
	t.found.add(at.Problem)
	if at.Refused != nil && at.Refused.IsDropped {
		t.found.again(at.Refused.Ends().Sub(now))
		return
	}
	t.found.again(at.Next.Sub(now))
}

// hasEnded reports whether there is nothing more to report of a deletion or release that the
// plan does not have any more.
func (t *reconciliation) hasEnded(at *plan.Attempt, now time.Time) bool {
	switch refused := at.Refused; {
	case refused == nil:
	case refused.IsDropped && !refused.IsOver(now):
		t.reportAttempt(at, now)
		return false
	case refused.IsDropped, refused.IsForbidden && !slices.Contains(t.subject.version.Patched, refused.Release.Live.GVK):
		t.announceReleased(at)
	}
	return true
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
