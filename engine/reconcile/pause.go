package reconcile

import (
	"time"

	"github.com/jacquard-operator/jacquard/engine/apply"
)

// A pause is for how long something is not sent: the server was busy, down or
// unreachable. Unlike after a failed write, what is to be sent may change meanwhile.
type pause struct {
	tries int
	until time.Time
	err   error
}

// sent takes up what became of it.
func (p *pause) sent(err error, now time.Time) {
	if err == nil {
		*p = pause{}
		return
	}
	if refusal := apply.Classify(err); refusal.Cause == apply.TryAgain {
		p.until, p.err = now.Add(backOff(p.tries, refusal.RetryAfter, longWait)), err
		p.tries++
	}
}

// why is why it is not to be sent now, or nil.
func (p *pause) why(now time.Time) error {
	if now.Before(p.until) {
		return p.err
	}
	return nil
}
