package reconcile

import (
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A refusalOutcome is what follows a refused write.
type refusalOutcome struct {
	// Problem has severity and reason.
	status.Problem
	// label is what metrics call it; empty if the API server did not refuse anything.
	label string
	// most is the longest wait before the write is tried again; 0: until something
	// else changes, or the next resync. least is the shortest.
	most, least time.Duration
}

// rareRetry is the first wait of what hardly ever helps to try again.
const rareRetry = 5 * time.Second

// outcomes has what follows each cause. It is the only place that knows the retry
// policy of writes.
var outcomes = map[apply.Cause]refusalOutcome{
	apply.TryAgain:    {status.Problem{Severity: status.Retry, Reason: api.ReasonApplyFailed}, "try-again", longWait, 0},
	apply.Exists:      {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildChanged}, "exists", 10 * time.Second, 0},
	apply.Gone:        {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildChanged}, "gone", 10 * time.Second, 0},
	apply.Invalid:     {status.Problem{Severity: status.Stalled, Reason: api.ReasonInvalid}, "invalid", 0, 0},
	apply.Forbidden:   {status.Problem{Severity: status.Retry, Reason: api.ReasonForbidden}, "forbidden", longWait, 0},
	apply.Quota:       {status.Problem{Severity: status.Retry, Reason: api.ReasonQuotaExceeded}, "quota", longWait, 0},
	apply.PodSecurity: {status.Problem{Severity: status.Retry, Reason: api.ReasonPodSecurityViolated}, "pod-security", longWait, 0},
	apply.Policy:      {status.Problem{Severity: status.Retry, Reason: api.ReasonDeniedByPolicy}, "policy", longWait, 0},
	apply.Webhook:     {status.Problem{Severity: status.Retry, Reason: api.ReasonDeniedByWebhook}, "webhook", longWait, 0},
	apply.Admission:   {status.Problem{Severity: status.Retry, Reason: api.ReasonDeniedByAdmission}, "admission", longWait, 0},
	apply.NotServed:   {status.Problem{Severity: status.Waiting, Reason: api.ReasonNotServed}, "not-served", longWait, 0},
	apply.NoNamespace: {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildWaiting}, "no-namespace", 10 * time.Second, 0},
	// Nothing wakes us when somebody makes the namespace again.
	apply.Terminating: {status.Problem{Severity: status.Waiting, Reason: api.ReasonNamespaceTerminating}, "terminating", 10 * time.Second, 0},
	// A change of the object wakes us, and other content is tried at once.
	apply.Conflict: {status.Problem{Severity: status.Stalled, Reason: api.ReasonConflict}, "conflict", longestGap, 0},

	apply.Waits:      {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildWaiting}, "", 10 * time.Second, 0},
	apply.NotOurs:    {status.Problem{Severity: status.Stalled, Reason: api.ReasonNotOurs}, "", longestGap, rareRetry},
	apply.WrongScope: {status.Problem{Severity: status.Stalled, Reason: api.ReasonNotAllowed}, "", longestGap, rareRetry},
	apply.Recreating: {status.Problem{Severity: status.Waiting, Reason: api.ReasonRecreating}, "", longestGap, rareRetry},
}

// IsRefusal reports whether the reason of a problem says that the API server refuses a
// child, for its content or for whoever writes it.
func IsRefusal(reason string) bool {
	return reason == outcomes[apply.Invalid].Reason || isForbidden(reason)
}

// isForbidden reports whether a reason says that a right is missing, or that admission
// denies a child.
func isForbidden(reason string) bool {
	for cause, outcome := range outcomes {
		if outcome.Reason == reason && (cause == apply.Forbidden || cause.IsDenied()) {
			return true
		}
	}
	return false
}

// describeFailure returns the problem of a step that failed, and when to try it again.
func (s *plannedStep) describeFailure(err error) (status.Problem, retry) {
	now := s.run.r.now() // waits begin with the answer
	if panics.In(err) != nil {
		NotePanic(s.run.r.name, err)
		p := outcomes[apply.TryAgain].Problem
		p.Message = s.Name() + ": " + err.Error()
		return p, retry{now: now, atLeast: rareRetry, most: longestGap}
	}
	refusal := apply.Classify(err)
	outcome := outcomes[refusal.Cause]
	p := outcome.Problem
	when := retry{now: now, atLeast: max(outcome.least, refusal.RetryAfter), most: outcome.most}
	switch cause := refusal.Cause; {
	case !cause.IsAnswer():
		p.Message = s.Name() + ": " + refusal.Error()
	case cause == apply.Invalid: // the same content is refused again
		p.Message = fmt.Sprintf("applying %s: %s", s.Name(), s.describeRefusal(refusal))
		when.atLeast, when.most = s.run.subject.version.ResyncInterval(), s.run.subject.version.ResyncInterval()
	case cause == apply.Conflict:
		p.Message = fmt.Sprintf("patching %s: %s; it is not forced", s.Name(), refusal)
	case cause == apply.Gone || cause == apply.Exists:
		p.Message = fmt.Sprintf("applying %s: it changed meanwhile and is looked at again", s.Name())
	default:
		p.Message = fmt.Sprintf("applying %s: %s", s.Name(), s.describeRefusal(refusal))
	}
	return p, when
}

// describeRefusal describes a refusal, with the place where the template wrote each field.
func (s *plannedStep) describeRefusal(r *apply.Refusal) string {
	return r.Describe(func(f apply.Field) string { return " (" + placeOf(s.Child, f.Path).String() + ")" })
}

// placeOf is where the template wrote a field of the document that is sent. What was
// written under stringData of a Secret is sent under data.
func placeOf(c render.Child, path []any) fmt.Stringer {
	if c.Object.GetKind() == "Secret" && len(path) == 2 && path[0] == "data" {
		plain, _ := c.Object.Object["stringData"].(map[string]any)
		if key, is := path[1].(string); is && plain[key] != nil {
			return c.Doc.Place("stringData", key)
		}
	}
	return c.Doc.Place(path...)
}
