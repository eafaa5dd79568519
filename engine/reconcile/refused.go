package reconcile

import (
	"fmt"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// refused explains a refused write to the resource's author, and says when to
// try again. It is the only place that knows the retry policy of writes.
func (w *stepExecutor) refused(err error) (status.Problem, retry) {
	refusal := apply.Classify(err)
	when := retry{now: w.now, atLeast: refusal.RetryAfter, most: longWait}
	p := status.Problem{Severity: status.Retry, Reason: "ApplyFailed", Message: fmt.Sprintf("applying %s: %s", w.named(), w.placed(refusal))}
	w.run.refusal(refusal)
	switch refusal.Cause {
	case apply.Invalid:
		// The same content is refused again, unless something else changed.
		p.Severity, p.Reason = status.Stalled, "Invalid"
		if w.over != nil && immutable.MatchString(refusal.Error()) {
			p.Message += w.immutableHint()
		}
		when.atLeast, when.most = w.run.subject.version.ResyncInterval(), w.run.subject.version.ResyncInterval()
	case apply.Conflict: // a change of the object wakes us, and other content is tried at once
		when.most = longestGap
		p.Severity, p.Reason = status.Stalled, "Conflict"
		p.Message = fmt.Sprintf("patching %s: %s; it is not forced", w.named(), refusal)
	case apply.Forbidden:
		p.Reason = "Forbidden"
	case apply.NotServed:
		p.Severity, p.Reason = status.Waiting, "NotServed"
	case apply.Terminating:
		p.Severity, p.Reason = status.Waiting, "NamespaceTerminating"
	case apply.Gone, apply.Exists:
		p.Severity, p.Reason = status.Waiting, "ChildChanged"
		p.Message = fmt.Sprintf("applying %s: it changed meanwhile and is looked at again", w.named())
		when.most = 10 * time.Second
	}
	return p, when
}

var reasons = map[apply.Cause]string{
	apply.TryAgain: "try-again", apply.Exists: "exists", apply.Gone: "gone", apply.Invalid: "invalid",
	apply.Forbidden: "forbidden", apply.NotServed: "not-served", apply.Terminating: "terminating", apply.Conflict: "conflict",
}

// placed adds to every refused field where the template wrote it.
func (w *stepExecutor) placed(r *apply.Refusal) string {
	text := r.Error()
	var places []string
	for _, f := range r.Fields {
		for _, path := range w.changed(f) {
			places = append(places, w.step.Child.Doc.Place(path...).String())
		}
	}
	if len(places) == 0 {
		places = []string{w.step.Child.Doc.Place().String()}
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(places, ", "))
}
