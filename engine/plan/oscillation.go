package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A Content is what may be written of a child, of a patched object, or of the fields of
// status.yaml.
type Content struct {
	Hash     string
	Document map[string]any
	// Cause is the generation of the resource and the revision of the folder. What another one
	// of them changes is no consequence of our own writes.
	Cause string
}

// RepeatKey returns the key of writes that may follow from one another.
func (s *Step) RepeatKey() Key { return Key{Operation: OpRepeat, Ref: s.Ref()} }

// StatusRepeatKey is the same for the fields of status.yaml.
var StatusRepeatKey = Key{Operation: OpRepeat}

// FollowRepeat records that content is to be written, and returns for how long it is held back,
// since our own writes seem to cause it; 0 means that it is written now. The argument
// lastWrite is the time of the last write of anything of the resource.
func (a Attempts) FollowRepeat(k Key, c Content, lastWrite, now time.Time) time.Duration {
	at := a[k]
	if at == nil || at.Hash != c.Cause {
		at = &Attempt{Hash: c.Cause}
	}
	next := *at // that of an earlier plan stays as it is
	at = &next
	a[k] = at
	at.Repeat = at.Repeat.Follow(c.Hash, lastWrite, now)
	if at.Repeat.IsHeld() {
		at.Fields = changedFields(at.Written, c.Document)
		return at.Repeat.Due(now)
	}
	at.Written = c.Document
	return 0
}

// changedFields returns the paths at which two documents differ, except for the hash that the
// engine itself writes.
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

// ReleaseRepeat drops what is held back of a child that needs no write any more.
func (a Attempts) ReleaseRepeat(k Key) {
	if at := a[k]; at != nil {
		released := *at
		released.Repeat = at.Repeat.Release()
		a[k] = &released
	}
}

// ForgetRepeats forgets all writes that may follow from one another: a child was created or
// deleted, and what follows from that is no repeat.
func (a Attempts) ForgetRepeats() {
	maps.DeleteFunc(a, func(k Key, _ *Attempt) bool { return k.Operation == OpRepeat })
}

// HoldsRepeats reports whether a write is held back that our own writes seem to cause.
func (a Attempts) HoldsRepeats() bool {
	for k, at := range a {
		if k.Operation == OpRepeat && at.Repeat.IsHeld() {
			return true
		}
	}
	return false
}

// Oscillation returns the problem of a child, or of the status, whose content our own writes
// change, and when to look again; nil if there is none, or none any more. The argument what
// names the child, and place returns where its content is rendered.
func (a Attempts) Oscillation(k Key, what string, place func() string, now time.Time) (*status.Problem, time.Duration) {
	at := a[k]
	switch {
	case at == nil || !at.Repeat.IsOscillating():
		return nil, 0
	case at.Repeat.IsOver(now):
		delete(a, k)
		return nil, 0
	}
	file := place()
	return &status.Problem{Severity: status.Stalled, Reason: api.ReasonOscillating, File: file, Message: fmt.Sprintf(
		"%s: %s changes again each time that it is written (%s); it is written less and less often",
		what, strings.Join(at.Fields[:min(3, len(at.Fields))], ", "), file)}, at.Repeat.Due(now)
}
