package lsp

import (
	"context"
	"time"

	"github.com/jacquard-operator/jacquard/engine/panics"
)

// runIdleChecks checks a space as a whole when a check was requested and no request has followed
// for a moment. A new request cancels the check that runs.
func (sp *space) runIdleChecks(ctx context.Context) {
	stop, done := context.CancelFunc(func() {}), make(chan struct{})
	close(done)
	quiet := time.NewTimer(time.Hour)
	for {
		select {
		case <-ctx.Done():
			stop()
			<-done
			return
		case <-sp.again:
			stop()
			quiet.Reset(quietFor)
		case <-quiet.C:
			<-done
			var within context.Context
			within, stop = context.WithCancel(ctx)
			done = make(chan struct{})
			go func() {
				defer close(done)
				sp.server.logError(sp.checkIdle(within))
			}()
		}
	}
}

// checkIdle makes the whole check and renders previews when nothing is typed.
func (sp *space) checkIdle(ctx context.Context) (err error) {
	defer panics.Catch(&err, "checking "+sp.dirs[0])
	if err := sp.checkSpace(ctx); err != nil {
		return err
	}
	return sp.refreshPreviews(ctx)
}
