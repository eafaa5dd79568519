package plan

import (
	"cmp"
	"time"
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
