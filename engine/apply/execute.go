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
	// WriteMetadata changes the resource itself, unless somebody else has changed it meanwhile.
	WriteMetadata(ctx context.Context, m plan.Metadata) plan.Outcome
	// Write carries out a step. If an object of this name exists although it was not seen, it
	// is adopted where [plan.TakeOver] permits it.
	Write(ctx context.Context, s *plan.Step) plan.Outcome
	// Delete deletes a child by its uid. It is no error if the child is gone already.
	Delete(ctx context.Context, l live.Object) plan.Outcome
	// Release gives up our fields of a patched object.
	Release(ctx context.Context, r plan.Release) plan.Outcome
}

// Execute carries out a plan in stages: changes of the resource that come first, its steps, its
// deletions and releases, and changes of the resource that come last. Each stage requires that
// all stages before it have succeeded, and that none of their parts has to wait: nothing is
// created without our finalizer, nothing is deleted before everything is applied, and the
// finalizer is removed last. The results include the parts that were skipped.
func Execute(ctx context.Context, w ResourceWriter, p *plan.Plan) (results []plan.Result) {
	runStage := func(parts []plan.Result, isBlocked bool, run func([]plan.Result) []plan.Result) {
		if !isBlocked && plan.Succeeded(results) {
			parts = run(parts)
		} else {
			for i := range parts {
				parts[i].Skipped = true
			}
		}
		results = append(results, parts...)
	}
	changeResource := func(m *plan.Metadata) {
		if m.IsEmpty() {
			return
		}
		runStage([]plan.Result{{Metadata: m}}, false, func(parts []plan.Result) []plan.Result {
			return runParts(1, parts, func(*plan.Result) plan.Outcome { return w.WriteMetadata(ctx, *m) })
		})
	}
	changeResource(&p.Before)
	runStage(stepResults(p), false, func([]plan.Result) []plan.Result { return executeSteps(ctx, w, p) })
	runStage(pruneResults(p), !p.IsComplete(), func(parts []plan.Result) []plan.Result {
		return runParts(1, parts, func(r *plan.Result) plan.Outcome {
			if r.Object != nil {
				return w.Delete(ctx, *r.Object)
			}
			return w.Release(ctx, *r.Release)
		})
	})
	changeResource(&p.After)
	return results
}

// stepResults returns the results, to be filled in, of the steps that write.
func stepResults(p *plan.Plan) (parts []plan.Result) {
	for i := range p.Steps {
		if p.Steps[i].Action.IsWrite() {
			parts = append(parts, plan.Result{Step: &p.Steps[i]})
		}
	}
	return parts
}

// pruneResults returns the results, to be filled in, of the deletions and releases that are due.
func pruneResults(p *plan.Plan) (parts []plan.Result) {
	for i := range p.Prune {
		if !p.Delayed[plan.DeleteKey(p.Prune[i])] {
			parts = append(parts, plan.Result{Object: &p.Prune[i]})
		}
	}
	for i := range p.Release {
		if !p.Delayed[p.Release[i].Key()] {
			parts = append(parts, plan.Result{Release: &p.Release[i]})
		}
	}
	return parts
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
		if !slices.ContainsFunc(written, func(r plan.Result) bool { return r.Step == secret && r.Succeeded() }) {
			return secret.Name()
		}
	}
	return ""
}

// runParts carries out parts, at most so many at the same time. A panic becomes the error of
// its part: it would end the process, which serves all other resources too.
func runParts(limit int, parts []plan.Result, do func(*plan.Result) plan.Outcome) []plan.Result {
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
	return parts
}
