package apply

import (
	"context"
	"slices"
	"sync"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// maxParallelWrites is how many children of one resource are written at the same time.
const maxParallelWrites = 8

// A ResourceWriter carries out the parts of plans for one resource.
type ResourceWriter interface {
	// Write carries out a step. If an object of this name exists although it was not seen, it
	// is adopted where [plan.TakeOver] permits it.
	Write(ctx context.Context, s *plan.Step) plan.Outcome
	// Delete deletes a child by its uid. It is no error if the child is gone already.
	Delete(ctx context.Context, l live.Object) plan.Outcome
	// Release gives up our fields of a patched object.
	Release(ctx context.Context, r plan.Release) plan.Outcome
}

// Execute carries out a plan: first its steps, then, if all of them have succeeded and none
// has to wait, its deletions and releases. The results include the parts that were skipped.
func Execute(ctx context.Context, w ResourceWriter, p *plan.Plan) []plan.Result {
	results := executeSteps(ctx, w, p)
	var last []plan.Result
	for i := range p.Prune {
		last = append(last, plan.Result{Object: &p.Prune[i]})
	}
	for i := range p.Release {
		last = append(last, plan.Result{Release: &p.Release[i]})
	}
	if !p.IsComplete() || !plan.Succeeded(results) {
		for i := range last {
			last[i].Skipped = true
		}
		return slices.Concat(results, last)
	}
	runParts(1, last, func(r *plan.Result) plan.Outcome {
		if r.Object != nil {
			return w.Delete(ctx, *r.Object)
		}
		return w.Release(ctx, *r.Release)
	})
	return slices.Concat(results, last)
}

// executeSteps writes children. Secrets with newly generated texts come first. Children that
// contain such a text wait for the Secret: the next reconciliation might generate another
// text. All other children are written even if a Secret fails.
func executeSteps(ctx context.Context, w ResourceWriter, p *plan.Plan) []plan.Result {
	write := func(r *plan.Result) plan.Outcome { return w.Write(ctx, r.Step) }
	var secrets, others, waiting []plan.Result
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action.IsWrite() && s.GeneratesText {
			secrets = append(secrets, plan.Result{Step: s})
		}
	}
	runParts(maxParallelWrites, secrets, write)
	for i := range p.Steps {
		s := &p.Steps[i]
		if !s.Action.IsWrite() || s.GeneratesText {
			continue
		}
		if secret := missingSecret(p, s, secrets); secret != "" {
			waiting = append(waiting, plan.Result{Step: s, Skipped: true, Lacks: secret})
			continue
		}
		others = append(others, plan.Result{Step: s})
	}
	runParts(maxParallelWrites, others, write)
	return slices.Concat(secrets, others, waiting)
}

// missingSecret names a Secret whose newly generated text a child contains, and that does not
// exist; "" if there is none.
func missingSecret(p *plan.Plan, s *plan.Step, written []plan.Result) string {
	for i := range p.Steps {
		secret := &p.Steps[i]
		if !secret.GeneratesText || secret.Action == plan.Keep || !slices.Contains(s.GeneratedFrom, secret.Child.File) {
			continue
		}
		if !slices.ContainsFunc(written, func(r plan.Result) bool { return r.Step == secret && plan.Succeeded([]plan.Result{r}) }) {
			return secret.Name()
		}
	}
	return ""
}

// runParts carries out parts, at most so many at the same time. A panic becomes the error of
// its part: it would end the process, which serves all other resources too.
func runParts(limit int, parts []plan.Result, do func(*plan.Result) plan.Outcome) {
	var group sync.WaitGroup
	slots := make(chan struct{}, limit)
	for i := range parts {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			defer panics.Catch(&parts[i].Err, "applying it")
			parts[i].Outcome = do(&parts[i])
		})
	}
	group.Wait()
}
