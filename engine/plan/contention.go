package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/status"
)

const (
	// freeRounds is how often fields are taken back at once from managers that take them again
	// and again.
	freeRounds = 3
	// roundGap is how long after the last time it is not "again" any more.
	roundGap = time.Minute
)

// contentionRetry is when fields are taken back after that.
var contentionRetry = Retry{Min: 5 * time.Second, Max: 5 * time.Minute}

// TakeBackKey returns the key of attempts to take back fields of a child from other managers.
func (s *Step) TakeBackKey() Key { return Key{Operation: OpTakeBack, Ref: s.Ref()} }

// BlockingTakeBack returns the attempt that a step has to wait for, since other managers take
// its fields again and again; or nil.
func (a Attempts) BlockingTakeBack(s *Step, now time.Time) *Attempt {
	at := a[s.TakeBackKey()]
	if at == nil || !at.isAbout(s.Taken) || !now.Before(at.Next) {
		return nil
	}
	return at
}

// TakeBack records that fields are taken back, and returns the attempt. Other fields, or the
// same ones after a quiet time, begin from the start.
func (a Attempts) TakeBack(s *Step, now time.Time) *Attempt {
	at := a[s.TakeBackKey()]
	if at == nil || !at.isAbout(s.Taken) || now.Sub(at.Last) > max(roundGap, 2*at.Next.Sub(at.Last)) {
		at = &Attempt{}
	}
	next := *at // that of an earlier plan stays as it is
	at = &next
	a[s.TakeBackKey()] = at
	at.Tries++
	at.Fields, at.Last, at.Next = s.Taken, now, now
	if at.IsContended() {
		at.Next = now.Add(contentionRetry.DelayAfter(at.Tries - freeRounds + 1))
		at.Problem = status.Problem{Severity: status.Retry, Reason: api.ReasonContended, Message: fmt.Sprintf(
			"%s: %s keeps changing %s; it is set again, less and less often", s.Name(), strings.Join(s.Takers, ", "), Brief(s.Taken))}
	}
	return at
}

func (at *Attempt) isAbout(fields []string) bool {
	return slices.ContainsFunc(fields, func(path string) bool { return slices.Contains(at.Fields, path) })
}

// IsContended reports whether other managers take fields again and again.
func (at *Attempt) IsContended() bool { return at != nil && at.Tries > freeRounds }

// ContentionEnds returns when a contention is over if nobody takes anything until then.
func (at *Attempt) ContentionEnds() time.Time { return at.Last.Add(2 * at.Next.Sub(at.Last)) }
