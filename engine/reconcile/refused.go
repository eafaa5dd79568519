package reconcile

import (
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A refusalPolicy determines how a refusal is reported and retried.
type refusalPolicy struct {
	severity status.Severity
	reason   string
	// label is what metrics call it; empty if the API server did not refuse anything.
	label string
	// retry is when the same content is tried again; other content is tried at once.
	retry plan.Retry
}

// retryAtResync stands for the resync interval of the kind.
var retryAtResync = plan.Retry{Max: -1}

// rareRetry is the first wait of what hardly ever helps to try again.
const rareRetry = 5 * time.Second

// refusalPolicies says for each refusal of a write what the status reports and when it is
// tried again. Deletions and releases of patches are in prune.go and orphan.go.
var refusalPolicies = map[refusals.Cause]refusalPolicy{
	refusals.TryAgain:    {status.Retry, api.ReasonApplyFailed, "ServerBusy", plan.Retry{Max: longWait}},
	refusals.Exists:      {status.Waiting, api.ReasonChildChanged, "AlreadyExists", plan.Retry{Max: 10 * time.Second}},
	refusals.Gone:        {status.Waiting, api.ReasonChildChanged, "NotFound", plan.Retry{Max: 10 * time.Second}},
	refusals.Invalid:     {status.Stalled, api.ReasonInvalid, "Invalid", retryAtResync},
	refusals.Forbidden:   {status.Retry, api.ReasonForbidden, "Forbidden", plan.Retry{Max: longWait}},
	refusals.Quota:       {status.Retry, api.ReasonQuotaExceeded, "QuotaExceeded", plan.Retry{Max: longWait}},
	refusals.PodSecurity: {status.Retry, api.ReasonPodSecurityViolated, "PodSecurityViolated", plan.Retry{Max: longWait}},
	refusals.Policy:      {status.Retry, api.ReasonDeniedByPolicy, "DeniedByPolicy", plan.Retry{Max: longWait}},
	refusals.Webhook:     {status.Retry, api.ReasonDeniedByWebhook, "DeniedByWebhook", plan.Retry{Max: longWait}},
	refusals.Admission:   {status.Retry, api.ReasonDeniedByAdmission, "DeniedByAdmission", plan.Retry{Max: longWait}},
	refusals.NotServed:   {status.Waiting, api.ReasonNotServed, "NotServed", plan.Retry{Max: longWait}},
	refusals.NoNamespace: {status.Waiting, api.ReasonChildWaiting, "NamespaceNotFound", plan.Retry{Max: 10 * time.Second}},
	// Nothing wakes us when somebody makes the namespace again.
	refusals.Terminating: {status.Waiting, api.ReasonNamespaceTerminating, "NamespaceTerminating", plan.Retry{Max: 10 * time.Second}},
	// A change of the object wakes us, and other content is tried at once.
	refusals.Conflict: {status.Stalled, api.ReasonConflict, "Conflict", plan.Retry{Max: longestGap}},

	refusals.Waits:         {status.Waiting, api.ReasonChildWaiting, "", plan.Retry{Max: 10 * time.Second}},
	refusals.OwnedByOthers: {status.Stalled, api.ReasonOwnedByOthers, "", plan.Retry{Min: rareRetry, Max: longestGap}},
	refusals.WrongScope:    {status.Stalled, api.ReasonScopeMismatch, "", plan.Retry{Min: rareRetry, Max: longestGap}},
}

// IsRefusal reports whether the reason of a problem says that the API server refuses a
// child, for its content or for whoever writes it.
func IsRefusal(reason string) bool {
	return reason == refusalPolicies[refusals.Invalid].reason || isForbidden(reason)
}

// isForbidden reports whether a reason says that a right is missing, or that admission
// denies a child.
func isForbidden(reason string) bool {
	for cause, policy := range refusalPolicies {
		if policy.reason == reason && (cause == refusals.Forbidden || cause.IsDenied()) {
			return true
		}
	}
	return false
}

// describeFailure returns the problem of a step that failed, and when to try it again.
func (t learner) describeFailure(s *plan.Step, err error) (status.Problem, plan.Retry) {
	if panics.In(err) != nil {
		NotePanic(t.r.name, err)
		p := status.Problem{Severity: status.Retry, Reason: api.ReasonApplyFailed, Message: s.Name() + ": " + err.Error()}
		return p, plan.Retry{Min: rareRetry, Max: longestGap}
	}
	refusal := refusals.Classify(err)
	policy := refusalPolicies[refusal.Cause]
	p, retry := status.Problem{Severity: policy.severity, Reason: policy.reason}, policy.retry
	if retry == retryAtResync {
		retry = plan.Retry{Min: t.subject.Version.ResyncInterval(), Max: t.subject.Version.ResyncInterval()}
	}
	retry.Min = max(retry.Min, refusal.RetryAfter)
	switch cause := refusal.Cause; {
	case !cause.IsAnswer():
		p.Message = s.Name() + ": " + refusal.Error()
	case cause == refusals.Conflict:
		p.Message = fmt.Sprintf("patching %s: %s; it is not forced", s.Name(), refusal)
	case cause == refusals.Gone || cause == refusals.Exists:
		p.Message = fmt.Sprintf("applying %s: it changed meanwhile and is looked at again", s.Name())
	default:
		p.Message = fmt.Sprintf("applying %s: %s", s.Name(), describeRefusal(s, refusal))
	}
	return p, retry
}

// describeRefusal describes a refusal, with the place where the template wrote each field.
func describeRefusal(s *plan.Step, r *refusals.Refusal) string {
	return r.Describe(func(f refusals.Field) string { return " (" + placeOf(s.Child, f.Path).String() + ")" })
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
