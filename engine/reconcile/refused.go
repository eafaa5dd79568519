package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A refusalOutcome is what follows a refused write.
type refusalOutcome struct {
	// Problem has severity and reason.
	status.Problem
	// label is what metrics call it.
	label string
	// most is the longest wait before the write is tried again; 0: until something
	// else changes, or the next resync.
	most time.Duration
}

// outcomes has what follows each cause. It is the only place that knows the retry
// policy of writes.
var outcomes = map[apply.Cause]refusalOutcome{
	apply.TryAgain:    {status.Problem{Severity: status.Retry, Reason: api.ReasonApplyFailed}, "try-again", longWait},
	apply.Exists:      {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildChanged}, "exists", 10 * time.Second},
	apply.Gone:        {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildChanged}, "gone", 10 * time.Second},
	apply.Invalid:     {status.Problem{Severity: status.Stalled, Reason: api.ReasonInvalid}, "invalid", 0},
	apply.Forbidden:   {status.Problem{Severity: status.Retry, Reason: api.ReasonForbidden}, "forbidden", longWait},
	apply.Quota:       {status.Problem{Severity: status.Retry, Reason: api.ReasonQuotaExceeded}, "quota", longWait},
	apply.PodSecurity: {status.Problem{Severity: status.Retry, Reason: api.ReasonPodSecurityViolated}, "pod-security", longWait},
	apply.Policy:      {status.Problem{Severity: status.Retry, Reason: api.ReasonDeniedByPolicy}, "policy", longWait},
	apply.Webhook:     {status.Problem{Severity: status.Retry, Reason: api.ReasonDeniedByWebhook}, "webhook", longWait},
	apply.Admission:   {status.Problem{Severity: status.Retry, Reason: api.ReasonDeniedByAdmission}, "admission", longWait},
	apply.NotServed:   {status.Problem{Severity: status.Waiting, Reason: api.ReasonNotServed}, "not-served", longWait},
	apply.NoNamespace: {status.Problem{Severity: status.Waiting, Reason: api.ReasonChildWaiting}, "no-namespace", 10 * time.Second},
	// Nothing wakes us when somebody makes the namespace again.
	apply.Terminating: {status.Problem{Severity: status.Waiting, Reason: api.ReasonNamespaceTerminating}, "terminating", 10 * time.Second},
	// A change of the object wakes us, and other content is tried at once.
	apply.Conflict: {status.Problem{Severity: status.Stalled, Reason: api.ReasonConflict}, "conflict", longestGap},
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

// refused explains a refused write to the resource's author, and says when to
// try again.
func (w *stepExecutor) refused(err error) (status.Problem, retry) {
	refusal := apply.Classify(err)
	w.run.refusal(refusal)
	outcome := outcomes[refusal.Cause]
	p := outcome.Problem
	when := retry{now: w.now, atLeast: refusal.RetryAfter, most: outcome.most}
	switch p.Message = fmt.Sprintf("applying %s: %s", w.named(), w.placed(refusal)); refusal.Cause {
	case apply.Invalid: // the same content is refused again
		when.atLeast, when.most = w.run.subject.version.ResyncInterval(), w.run.subject.version.ResyncInterval()
	case apply.Conflict:
		p.Message = fmt.Sprintf("patching %s: %s; it is not forced", w.named(), refusal)
	case apply.Gone, apply.Exists:
		p.Message = fmt.Sprintf("applying %s: it changed meanwhile and is looked at again", w.named())
	}
	return p, when
}

// placed describes a refusal, with the place where the template wrote each field.
func (w *stepExecutor) placed(r *apply.Refusal) string {
	return r.Describe(func(f apply.Field) string { return " (" + placeOf(w.step.Child, f.Path).String() + ")" })
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

// remedy is what to do about a change that is refused although its content is fine; or
// "". fresh is the refusal of a dry run that would create the child anew, or nil.
func (w *stepExecutor) remedy(r *apply.Refusal, fresh error) string {
	recreate := "annotate it in the template with " + api.AnnotationOnImmutable + ": recreate"
	precious := kind.HoldsData(w.step.Document.GroupVersionKind().GroupKind())
	switch {
	case r.Kind == apply.ForeignEntry:
		return "remove that entry from the live object"
	case r.Kind == apply.LeftOver && precious:
		return "remove that field from the live object"
	case r.Kind == apply.LeftOver:
		return "remove that field from the live object; or, to delete and recreate it instead, " + recreate
	case r.Kind != apply.Immutable:
		return ""
	case precious:
		return "it is never recreated, since what is in it would be lost" + initialHint(r.Fields, "to keep what it has")
	case w.step.Child.Policy.RecreateOnImmutable:
		return "it is not recreated, since a new one would be refused too: " + apply.Classify(fresh).Error()
	}
	others := slices.DeleteFunc(slices.Clone(r.Fields), func(f apply.Field) bool { return len(f.Holders) == 0 })
	return "to delete and recreate it instead, " + recreate + initialHint(others, "to leave the field to others")
}

// initialHint says how fields can be left as they are, and what for; "" if they cannot.
func initialHint(fields []apply.Field, purpose string) string {
	var paths []string
	for _, f := range fields {
		if _, err := kind.InitialPaths(f.Name()); err == nil {
			paths = append(paths, f.Name())
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return "; " + purpose + ", annotate it with " + api.AnnotationInitial + ": " + strings.Join(paths, ", ")
}
