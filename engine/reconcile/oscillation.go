package reconcile

import (
	"fmt"
	"maps"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// statusFile is the template of the status.
const statusFile = "status.yaml"

// contentCause identifies what changes content for other reasons than our own writes.
func (t *pass) contentCause() string {
	return fmt.Sprintf("%d@%s", t.subject.Resource.GetGeneration(), t.subject.Version.Digest)
}

// isAtRest reports whether the reconciliation wrote nothing, and holds nothing back that our
// own writes may cause.
func (t publisher) isAtRest() bool {
	return !t.memory.attempts.HoldsRepeats() && t.memory.writes == t.written
}

// reportOscillation reports what oscillates, and looks at it again.
func (t *pass) reportOscillation(k plan.Key, what, file string) {
	if p, due := t.memory.attempts.Oscillation(k, what, func() string { return file }, t.r.now()); p != nil {
		t.found.add(*p)
		t.found.requeueAfter(due)
	}
}

// holdStatus returns what status.yaml is to say: what it said last, while our own writes seem
// to change that.
func (t publisher) holdStatus(fields map[string]any) map[string]any {
	if t.isDry() {
		return fields
	}
	attempts, k := t.memory.attempts, plan.StatusRepeatKey
	if hash, err := ownership.Hash(fields); err == nil {
		at := attempts[k]
		if at != nil && t.memory.saidAt.After(at.Repeat.Written) { // its write was delayed
			at.Repeat.Written = t.memory.saidAt
		}
		if at != nil && at.Repeat.Hash == hash {
			attempts.ReleaseRepeat(k)
		} else if delay := attempts.FollowRepeat(k, plan.Content{Hash: hash, Document: maps.Clone(fields), Cause: t.contentCause()},
			t.memory.lastWrite, t.r.now()); delay > 0 {
			t.found.requeueAfter(delay)
			fields = maps.Clone(attempts[k].Written)
		}
	}
	t.reportOscillation(k, "status", statusFile)
	return fields
}
