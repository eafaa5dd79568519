package observe

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	debounce   = 100 * time.Millisecond
	askAgain   = time.Second      // first pause before asking again
	askSlowest = 30 * time.Second // longest pause
	pokeTries  = 5                // pauses of 1, 2, 4, 8 and 16 seconds
)

// asking is where Run stands between two refreshes.
type asking struct {
	tries  int  // pokeTries ... 0: how often a poked change is still looked for
	moved  bool // something changed since the last poke
	paused time.Duration
}

// Run refreshes once if that has not happened yet, when poked, and with
// back-off while the last refresh failed, a group is unknown, or a poked change
// has not shown up and settled. At rest it sends nothing. It returns nil when
// ctx ends; failures show in Served and are tried again.
func (d *Discovery) Run(ctx context.Context) error {
	var at asking
	if served := d.Served(); len(served.resources) == 0 || len(served.unknown) > 0 {
		d.Poke()
	}
	timer := time.NewTimer(askSlowest)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-d.poked:
			at = asking{tries: pokeTries}
			if !sleep(ctx, debounce) {
				return nil
			}
			select {
			case <-d.poked: // came during the debounce: this refresh serves it too
			default:
			}
		}
		changed, err := d.ask(ctx)
		if pause := at.next(changed, err != nil || len(d.Served().unknown) > 0); pause > 0 {
			timer.Reset(wait.Jitter(pause, 0.2))
		} else {
			timer.Stop()
		}
	}
}

// next returns the pause before the next refresh, or 0 to rest. A change is
// looked after once more: two CRDs that came together may show up one by one.
func (a *asking) next(changed, failed bool) time.Duration {
	settled := a.moved && !changed
	a.moved = a.moved || changed
	switch {
	case failed:
	case settled || a.tries == 0:
		*a = asking{}
		return 0
	default:
		a.tries--
	}
	a.paused = min(max(2*a.paused, askAgain), askSlowest)
	return a.paused
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
