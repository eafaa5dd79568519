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

// An oscillation is a child, a patch, or what status.yaml says, in which we change the
// same field again and again. Whether that comes of our own writes is found out by not
// writing for a while: what others change goes on changing meanwhile; what our writes
// change stays as it is until the next of them, and is written slower and slower. It
// has many fields since the next step depends on what was written, on how often, and on
// when.
type oscillation struct {
	generation int64
	digest     string
	// sent is what was written last, at last, and hash its hash; nil: only one
	// change is known.
	sent map[string]any
	hash string
	last time.Time
	// rounds is how often a field was changed again since first; fields are those
	// of the last time.
	rounds int
	first  time.Time
	fields []string
	// held is the hash of what is not written before until; proofs is how often it
	// stayed the same meanwhile.
	held   string
	wait   time.Duration
	until  time.Time
	proofs int
	// writes is how much was written of the resource when it was held; unsure: it
	// changed meanwhile, but something else was written.
	writes int64
	unsure bool
}

const (
	oscillationFree   = 5           // changes of a field within oscillationWithin that are not held
	oscillationWithin = time.Minute // and for how long a change is remembered
	oscillationFirst  = 5 * time.Second
	oscillationProofs = 2 // how often it is seen before it is told
)

// statusFile stands for the status among what swings.
const statusFile = "status.yaml"

// A turnout is what may be written of an object, and when.
type turnout struct {
	key, hash string
	doc       map[string]any
	now       time.Time
}

// oscillations says how long a write has to wait, since our own writes seem to cause
// it; 0: it may be made.
func (t *reconciliation) recordOscillation(of turnout) time.Duration {
	s := t.known.failures.oscillations[of.key]
	if s == nil || s.generation != t.subject.resource.GetGeneration() || s.digest != t.subject.version.Digest ||
		of.now.Sub(s.last) > max(oscillationWithin, 2*s.wait) {
		t.known.failures.oscillations[of.key] = &oscillation{generation: t.subject.resource.GetGeneration(), digest: t.subject.version.Digest,
			hash: of.hash, last: of.now}
		return 0
	}
	if s.held != "" && s.held != of.hash {
		s.held, s.unsure = of.hash, true
		if s.writes == t.known.writes.Load() { // it changes without us
			s.rounds, s.proofs, s.wait, s.held = 0, 0, 0, ""
		}
	}
	switch {
	case s.held != "" && of.now.Before(s.until):
		return s.until.Sub(of.now)
	case s.held != "":
		if s.held = ""; !s.unsure {
			s.proofs++
		}
	case s.changesAgain(of):
		s.held, s.unsure, s.writes = of.hash, false, t.known.writes.Load()
		s.wait = backOff(s.proofs, oscillationFirst, longestGap)
		s.until, s.last = of.now.Add(s.wait), of.now
		return s.wait
	}
	s.sent, s.hash, s.last = of.doc, of.hash, of.now
	return 0
}

// changesAgain reports whether fields that were written before are changed too
// often. New fields and those that go are progress.
func (s *oscillation) changesAgain(of turnout) bool {
	fields := changedFields(s.sent, of.doc)
	if len(fields) == 0 {
		return false
	}
	if s.proofs == 0 && of.now.Sub(s.first) > oscillationWithin ||
		!slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(s.fields, f) }) {
		s.rounds, s.first = 0, of.now
	}
	s.fields = fields
	s.rounds++
	return s.rounds > oscillationFree
}

// changedFields are the paths at which both documents say something, and not the
// same. What we note on children ourselves is none.
func changedFields(before, after map[string]any) []string {
	gone := ownership.Differences(before, after)
	var both []string
	for _, d := range ownership.Differences(after, before) {
		if slices.Contains(gone, d) && !strings.Contains(d.Path, api.AnnotationDesired) {
			both = append(both, d.Path)
		}
	}
	return both
}

// progressed notes that a child was made or deleted: what follows of it is no
// swing.
func (m *failures) progressed() { clear(m.oscillations) }

// rests reports whether the reconciliation wrote nothing, and keeps nothing from being written
// since our own writes may cause it.
func (t *reconciliation) rests() bool {
	for _, s := range t.known.failures.oscillations {
		if s.held != "" {
			return false
		}
	}
	return t.known.writes.Load() == t.written
}

// reportOscillation tells of what swings, if that is sure, and looks at it again.
func (t *reconciliation) reportOscillation(key, what, file string) {
	s := t.known.failures.oscillations[key]
	if s == nil || s.proofs < oscillationProofs {
		return
	}
	over := 2*s.wait - t.r.now().Sub(s.last)
	if over <= 0 {
		delete(t.known.failures.oscillations, key)
		return
	}
	t.found.add(status.Problem{Severity: status.Stalled, Reason: "Oscillating", File: file, Message: fmt.Sprintf(
		"%s: %s changes again each time that it is written (%s); it is written less and less often", what,
		strings.Join(s.fields[:min(3, len(s.fields))], ", "), file)})
	t.found.again(over)
}

// oscillates reports whether a step waits because our own writes cause it.
func (w *stepExecutor) oscillates() bool {
	if !w.run.executor.repeats() || w.step.Action != plan.Update && w.step.Action != plan.Patch {
		return false
	}
	wait := w.run.recordOscillation(turnout{w.child(), w.step.Hash, w.step.Document.Object, w.now})
	w.run.reportOscillation(w.child(), w.named(), w.step.Child.Doc.Place().String())
	if wait == 0 {
		return false
	}
	w.run.found.incomplete = true
	w.run.found.again(wait)
	return true
}

// steady is what status.yaml is to say: what it said last, while that changes
// because of what we write.
func (t *reconciliation) steady(fields map[string]any) map[string]any {
	if !t.executor.repeats() {
		return fields
	}
	hash, err := ownership.Hash(fields)
	if s := t.known.failures.oscillations[statusFile]; err == nil && (s == nil || s.hash != hash) {
		if wait := t.recordOscillation(turnout{statusFile, hash, maps.Clone(fields), t.r.now()}); wait > 0 {
			t.found.again(wait)
			fields = maps.Clone(s.sent)
		}
	}
	t.reportOscillation(statusFile, "status", statusFile)
	return fields
}
