package reconcile

import (
	"context"
	"slices"
	"sync"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// maxParallelWrites is how many children of one resource are written at the same time.
const maxParallelWrites = 8

// execute carries out the steps of a plan whose kinds are on record. Secrets
// with texts that were just drawn come first: what else has these texts waits
// for them.
func (t *reconciliation) execute(ctx context.Context, p *plan.Plan) {
	var mu sync.Mutex // guards memory and findings
	var first, open []*stepExecutor
	current := map[string]bool{}
	missing := map[string]string{} // what is drawn for is not there, by file
	for i := range p.Steps {
		s := &stepExecutor{run: t, step: &p.Steps[i], mu: &mu, now: t.r.now(), content: t.contentOf(&p.Steps[i])}
		current[s.key()], current[s.failedKey()] = true, true
		switch settled := s.settled(); {
		case settled && s.drawn() && s.step.Action != plan.Keep:
			missing[s.step.Child.File] = s.named()
		case settled:
		case s.drawn():
			first = append(first, s)
		default:
			open = append(open, s)
		}
	}
	t.executor.skipped(skipped(p))
	t.known.failures.clearFailed(current, t.r.now())
	sendAll(ctx, first)
	for _, s := range first {
		if t.known.failures.failedWrites[s.key()] != nil {
			missing[s.step.Child.File] = s.named()
		}
	}
	sendAll(ctx, slices.DeleteFunc(open, func(s *stepExecutor) bool { return s.lacks(missing) }))
}

// sendAll sends several writes at the same time.
func sendAll(ctx context.Context, open []*stepExecutor) {
	var all sync.WaitGroup
	slots := make(chan struct{}, maxParallelWrites)
	for _, s := range open {
		slots <- struct{}{}
		all.Go(func() {
			s.send(ctx)
			<-slots
		})
	}
	all.Wait()
}

// lacks reports whether a child has texts that were drawn for a Secret which is not
// there, and reports it: they would be others once it is.
func (w *stepExecutor) lacks(missing map[string]string) bool {
	if len(missing) == 0 {
		return false
	}
	for _, file := range w.run.subject.version.Kind.DrawsFrom(w.step.Child.File) {
		if secret := missing[file]; secret != "" {
			w.problem(status.Waiting, api.ReasonChildWaiting, "waiting to apply %s: %s",
				secret+" is not there yet, and what is drawn for it is in this")
			return true
		}
	}
	return false
}
