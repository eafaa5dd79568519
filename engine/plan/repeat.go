package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A Repeat remembers writes of one child, or of the status, that may follow from one
// another: a template reads what it writes, directly or because a controller copies it
// back. Such an echo and a person who edits what the template reads look alike, and are
// told apart by not writing for a while:
//
//   - An echo comes within echoWindow of our own write, for ever. Nothing changes while
//     nothing is written.
//   - An edit comes whenever it likes: also long after our last write, or while a write
//     is held back. Then it was no echo, and everything begins anew.
//
// A person who pauses just when a write is held back looks like an echo. So holding it
// back once proves nothing, and neither does the same time again: edits at regular
// intervals may always come just after it. The times in holdTimes differ, and only what
// looks like an echo after all of them is one. Until then no write waits for longer than
// four seconds, so that an edit arrives within five, with a watch that is one second late.
type Repeat struct {
	// Hash is the hash of the content that was written last, at Written.
	Hash    string
	Written time.Time
	// Tries is the number of consecutive changes that followed our own write.
	Tries int
	// Held is the hash of the content that is not written before Next, or empty.
	Held string
	Next time.Time
}

const (
	// echoWindow is how long after our write a change counts as a consequence of it.
	echoWindow = 3 * time.Second
	// freeRepeats is how often content is written again without delay.
	freeRepeats = 5
	// firstLongHold and longestHold bound the times for which an echo is held back.
	firstLongHold = 8 * time.Second
	longestHold   = 5 * time.Minute
)

// holdTimes are the times for which content is held back before it counts as an echo.
var holdTimes = []time.Duration{
	time.Second, 4 * time.Second, 2 * time.Second, 4 * time.Second, time.Second, 3 * time.Second,
	4 * time.Second, time.Second, 4 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second,
}

// Follow returns what to remember when content is to be written. It may be written now
// unless the result IsHeld. The argument lastWrite is the time of the last write of
// anything of the resource, since that may have changed the content too.
func (r Repeat) Follow(hash string, lastWrite, now time.Time) Repeat {
	hasChanged := hash != cmp.Or(r.Held, r.Hash)
	followsOurs := now.Sub(r.Written) <= echoWindow
	switch {
	case hasChanged && !followsOurs && now.Sub(lastWrite) > echoWindow: // nothing of ours caused it
		return Repeat{Hash: hash, Written: now}
	case hasChanged && r.IsHeld() && !followsOurs: // another write of ours may have caused it, or nothing of ours
		r.Tries = max(r.Tries-1, 0)
	case hasChanged && !r.IsHeld():
		if followsOurs {
			r.Tries++
		}
		if d := holdAfter(r.Tries); d > 0 {
			r.Held, r.Next = hash, now.Add(d)
			return r
		}
	}
	if r.IsHeld() && hash != r.Hash && now.Before(r.Next) {
		r.Held = hash
		return r
	}
	return Repeat{Hash: hash, Written: now, Tries: r.Tries}
}

// holdAfter returns for how long content is held back after a number of consecutive
// changes that followed our own writes.
func holdAfter(tries int) time.Duration {
	n := tries - freeRepeats - 1
	switch {
	case n < 0:
		return 0
	case n < len(holdTimes):
		return holdTimes[n]
	}
	return min(firstLongHold<<min(n-len(holdTimes), 10), longestHold)
}

// IsHeld reports whether content is held back.
func (r Repeat) IsHeld() bool { return r.Held != "" }

// IsOscillating reports whether it is certain that our own writes change the content.
func (r Repeat) IsOscillating() bool { return r.Tries > freeRepeats+len(holdTimes) }

// Release drops the content that is held back, since it is as it was written again.
func (r Repeat) Release() Repeat {
	r.Held, r.Next = "", time.Time{}
	return r
}

// IsOver reports whether nothing followed our last write.
func (r Repeat) IsOver(now time.Time) bool { return !r.IsHeld() && now.Sub(r.Written) > echoWindow }

// Due returns the time until the content that is held back is written, or until it is
// known that nothing follows our last write.
func (r Repeat) Due(now time.Time) time.Duration {
	if r.IsHeld() {
		return r.Next.Sub(now)
	}
	return r.Written.Add(echoWindow).Sub(now) + time.Millisecond
}

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
