package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A repeat is a plan.Repeat of a child, a patch, or what status.yaml returns.
type repeat struct {
	plan.Repeat
	// written is what was written last. fields are those that differ from it in what is
	// held back.
	written map[string]any
	fields  []string
}

// statusFile stands for the status among the children.
const statusFile = "status.yaml"

// A candidateWrite is what may be written of an object, and when.
type candidateWrite struct {
	key, hash string
	doc       map[string]any
	now       time.Time
}

// recordRepeat returns how long to delay a write that our own writes seem to provoke, or 0.
func (t *reconciliation) recordRepeat(of candidateWrite) time.Duration {
	failures := &t.known.failures
	if cause := fmt.Sprintf("%d@%s", t.subject.resource.GetGeneration(), t.subject.version.Digest); failures.repeatsOf != cause {
		clear(failures.repeats)
		failures.repeatsOf = cause
	}
	r := failures.repeats[of.key]
	if r == nil {
		r = &repeat{}
		failures.repeats[of.key] = r
	}
	r.Repeat = r.Follow(of.hash, t.known.lastWrite, of.now)
	if r.IsHeld() {
		r.fields = changedFields(r.written, of.doc)
		return r.Due(of.now)
	}
	r.written = of.doc
	return 0
}

// changedFields are the paths at which two documents differ. What we note on children
// ourselves is none.
func changedFields(before, after map[string]any) []string {
	var paths []string
	for _, d := range slices.Concat(ownership.Differences(after, before), ownership.Differences(before, after)) {
		if !strings.Contains(d.Path, api.AnnotationDesired) {
			paths = append(paths, d.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// progressed notes that a child was created or deleted: what follows from it is no repeat.
func (m *failures) progressed() { clear(m.repeats) }

// rests reports whether the reconciliation wrote nothing, and holds nothing back that our
// own writes may cause.
func (t *reconciliation) rests() bool {
	return !t.holdsRepeats() && t.known.writes == t.written
}

// holdsRepeats reports whether a write is held back that our own writes seem to cause.
func (t *reconciliation) holdsRepeats() bool {
	for _, r := range t.known.failures.repeats {
		if r.IsHeld() {
			return true
		}
	}
	return false
}

// releaseRepeat drops what is held back of a child that needs no write any more.
func (t *reconciliation) releaseRepeat(key string) {
	if r := t.known.failures.repeats[key]; r != nil {
		r.Repeat = r.Release()
	}
}

// reportOscillation reports what oscillates, and looks at it again.
func (t *reconciliation) reportOscillation(key, what, file string) {
	r, now := t.known.failures.repeats[key], t.r.now()
	if r == nil || !r.IsOscillating() {
		return
	}
	if r.IsOver(now) {
		delete(t.known.failures.repeats, key)
		return
	}
	t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonOscillating, File: file, Message: fmt.Sprintf(
		"%s: %s changes again each time that it is written (%s); it is written less and less often", what,
		strings.Join(r.fields[:min(3, len(r.fields))], ", "), file)})
	t.found.again(r.Due(now))
}

// mayOscillate reports whether a step waits because our own writes seem to cause it.
func (s *plannedStep) mayOscillate() bool {
	if s.run.isDry() || s.Action != plan.Update && s.Action != plan.Patch {
		return false
	}
	delay := s.run.recordRepeat(candidateWrite{s.childName(), s.Hash, s.Document.Object, s.now})
	s.run.reportOscillation(s.childName(), s.Name(), s.templatePlace())
	if delay == 0 {
		return false
	}
	s.run.found.incomplete = true
	s.run.found.again(delay)
	return true
}

// steady returns what status.yaml is to say: what it said last, while our own writes seem
// to change that.
func (t *reconciliation) steady(fields map[string]any) map[string]any {
	if t.isDry() {
		return fields
	}
	if hash, err := ownership.Hash(fields); err == nil {
		r := t.known.failures.repeats[statusFile]
		if r != nil && t.known.told.saidAt.After(r.Written) { // its write was delayed
			r.Written = t.known.told.saidAt
		}
		if r != nil && r.Hash == hash {
			t.releaseRepeat(statusFile)
		} else if delay := t.recordRepeat(candidateWrite{statusFile, hash, maps.Clone(fields), t.r.now()}); delay > 0 {
			t.found.again(delay)
			fields = maps.Clone(t.known.failures.repeats[statusFile].written)
		}
	}
	t.reportOscillation(statusFile, "status", statusFile)
	return fields
}
