package lsp

import (
	"context"
	"time"

	"github.com/jacquard-operator/jacquard/engine/panics"
)

// idle checks a space as a whole whenever that was asked for and then nothing was for a
// moment. What is asked for meanwhile ends the check that runs.
func (sp *space) idle(ctx context.Context) {
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
				sp.server.log(sp.calm(within))
			}()
		}
	}
}

// calm is what is done when nothing is typed.
func (sp *space) calm(ctx context.Context) (err error) {
	defer panics.Catch(&err, "checking "+sp.dirs[0])
	if err := sp.whole(ctx); err != nil {
		return err
	}
	return sp.previews(ctx)
}
