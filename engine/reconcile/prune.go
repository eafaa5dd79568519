package reconcile

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// learnDelete records what became of the deletion of a child.
func (t learner) learnDelete(r *plan.Result) {
	if len(r.Writes) > 0 {
		t.memory.attempts.ForgetRepeats()
		if !t.subject.IsDeleting() {
			t.pruned = append(t.pruned, plan.RefOf(*r.Object).String())
		}
	}
	t.learnPrune(plan.DeleteKey(*r.Object), r)
}

// learnRelease records what became of the release of a patch.
func (t learner) learnRelease(r *plan.Result) {
	if r.Answer != nil && !t.isDry() {
		t.r.cluster.Reads.RecordWrite(r.Release.Live.GVK, r.Answer)
	}
	k := r.Release.Key()
	refused := &plan.RefusedRelease{Release: *r.Release, IsDropped: r.Dropped}
	if before := t.memory.attempts[k]; before != nil && before.Refused != nil {
		refused.At = before.Refused.At
	}
	at := t.learnPrune(k, r)
	if at == nil {
		return
	}
	refusal := refusals.Classify(r.Err)
	if refused.IsForbidden = refusal.Cause == refusals.Forbidden; refusal.Cause == refusals.Invalid || refusal.Cause.IsDenied() {
		at.Problem.Severity, at.Problem.Reason = status.Waiting, api.ReasonReleaseFailed
		if refused.At.IsZero() {
			refused.At = t.r.now()
		}
	}
	at.Refused = refused
}

// learnPrune records that something was sent, or when to try again what failed, and returns
// the latter; nil if nothing failed.
func (t learner) learnPrune(k plan.Key, r *plan.Result) *plan.Attempt {
	if r.Err == nil {
		t.memory.attempts.AwaitWatch(k)
		return nil
	}
	t.countRefusal(r.Err)
	retry := plan.Retry{Min: refusals.Classify(r.Err).RetryAfter, Max: longWait}
	at := t.memory.attempts.Fail(k, "", retry, t.r.now())
	at.Problem = status.Problem{Severity: status.Retry, Reason: api.ReasonPruneFailed, Message: r.Err.Error()}
	return at
}

// reportPrunes reports what waits to be deleted or released, and forgets what has ended.
func (t learner) reportPrunes(p *plan.Plan) {
	t.found.problems = append(t.found.problems, p.PruneProblems...)
	planned, now := map[plan.Key]bool{}, t.r.now()
	for _, l := range p.Prune {
		planned[plan.DeleteKey(l)] = true
		t.reportPending(plan.DeleteKey(l), now)
	}
	for _, r := range p.Release {
		planned[r.Key()] = true
		t.reportPending(r.Key(), now)
	}
	if !p.IsRendered && !t.subject.IsDeleting() { // it does not know all that ends
		return
	}
	for k, at := range t.memory.attempts {
		isPrune := k.Operation == plan.OpDelete || k.Operation == plan.OpRelease
		if isPrune && !planned[k] && t.hasEnded(at, now) {
			delete(t.memory.attempts, k)
		}
	}
}

// reportPending reports a deletion or release that failed, or that is waited for no more.
func (t learner) reportPending(k plan.Key, now time.Time) {
	switch at := t.memory.attempts[k]; {
	case at == nil || at.Next.IsZero():
	case at.Refused.IsOver(now):
		t.announceReleased(at)
	default:
		t.reportAttempt(at, now)
	}
}

// reportAttempt reports a deletion or release that failed.
func (t learner) reportAttempt(at *plan.Attempt, now time.Time) {
	t.found.add(at.Problem)
	if at.Refused != nil && at.Refused.IsDropped {
		t.found.requeueAfter(at.Refused.Ends().Sub(now))
		return
	}
	t.found.requeueAfter(at.Next.Sub(now))
}

// hasEnded reports whether there is nothing more to report of a deletion or release that the
// plan does not have any more.
func (t learner) hasEnded(at *plan.Attempt, now time.Time) bool {
	switch refused := at.Refused; {
	case refused == nil:
	case refused.IsDropped && !refused.IsOver(now):
		t.reportAttempt(at, now)
		return false
	case refused.IsDropped, refused.IsForbidden && !slices.Contains(t.subject.Version.Patched, refused.Release.Live.GVK):
		t.announceReleased(at)
	}
	return true
}

// describePlace returns namespace/name, or the name of an object without a namespace.
func describePlace(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
