package cluster

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	debounce     = 100 * time.Millisecond
	askAgain     = time.Second      // first pause before asking again
	askFactor    = 4                // how much longer each next pause is
	askSlowest   = 30 * time.Second // longest pause
	triggerTries = 3                // pauses of 1, 4 and 16 seconds
)

// asking is where Run stands between two refreshes.
type asking struct {
	tries  int // triggerTries ... 0: how often a poked change is still looked for
	paused time.Duration
}

// Run refreshes once if that has not happened yet, when poked, three times more
// in the 21 seconds after a poke, and with back-off while the last refresh failed or
// a group is unknown. At rest it sends nothing. It returns nil when
// ctx ends; failures show in Served and are tried again.
func (d *Discovery) Run(ctx context.Context) error {
	var at asking
	var last time.Time // of the refresh before: many changes are one a second
	if served := d.Served(); len(served.resources) == 0 || len(served.unknown) > 0 {
		d.Trigger()
	}
	timer := time.NewTimer(askSlowest)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-d.triggered:
			at = asking{tries: triggerTries}
			if !waitFor(ctx, max(debounce, askAgain-time.Since(last))) {
				return nil
			}
			select {
			case <-d.triggered: // came during the debounce: this refresh serves it too
			default:
			}
		}
		err := d.Refresh(ctx)
		last = time.Now()
		if pause := at.next(err != nil || len(d.Served().unknown) > 0); pause > 0 {
			timer.Reset(wait.Jitter(pause, 0.2))
		} else {
			timer.Stop()
		}
	}
}

// next returns the pause before the next refresh, or 0 to rest. That something
// changed does not end the tries: it may be the change of another CRD, and the
// one that was poked for may show up later.
func (a *asking) next(failed bool) time.Duration {
	switch {
	case failed:
	case a.tries == 0:
		*a = asking{}
		return 0
	default:
		a.tries--
	}
	a.paused = min(max(askFactor*a.paused, askAgain), askSlowest)
	return a.paused
}

// waitFor waits. It returns false if ctx ended first.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
