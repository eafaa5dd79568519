package reconcile

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A DryRun is one reconciliation in which nothing is changed: what is rendered and
// planned, and how the server answers each write as a dry run.
type DryRun struct {
	// Plan is nil if the resource cannot be rendered, or nothing of it may be
	// changed; Problems then say why.
	Plan     *plan.Plan
	Rendered *render.Result
	// Problems are what the status would tell of.
	Problems []status.Problem
	// Tried are the parts of the plan that were tried.
	Tried []Tried
	// Drawn are the texts that are going to be drawn, as file/key: here they
	// only stand in.
	Drawn []string
	// Finalizer: the resource gets our finalizer before anything is made.
	Finalizer bool
	Paused    bool
	// Unready are the live children that count as not ready by the health entries of this
	// version, or of this program, although the status says that the resource is ready.
	Unready []status.Child
}

// A Tried is one part of a plan, how the API server answered it as a dry run, and the problem
// that the status would report; nil if it would report none.
type Tried struct {
	plan.Result
	Problem *status.Problem
}

// DryRun does everything that a reconciliation with this version does for a resource
// but change anything. The cluster's Writer must be a dry one: each write of the
// plan is sent to it. What would be pruned is tried even where a reconciliation would
// first have to apply something else.
func (r *Reconciler) DryRun(ctx context.Context, v *observe.Version, resource *unstructured.Unstructured) *DryRun {
	t, out, view := newDryRun(r, v, resource)
	if isDeletedWithoutFinalizer(resource) {
		out.Plan, out.Rendered = &plan.Plan{}, &render.Result{}
		return out
	}
	out.Rendered = t.renderChildren(ctx, view)
	p := t.makePlan(out.Rendered, view)
	t.found.problems = append(t.found.problems, p.Problems...)
	switch {
	case t.subject.IsDeleting():
		out.Rendered = &render.Result{}
	case !p.IsRendered:
		out.Rendered = nil
	}
	writer, err := t.resourceWriter()
	if err != nil {
		if out.Rendered != nil {
			out.Plan = p
		}
		t.notRecorded(err)
		out.Problems = t.found.problems
		return out
	}
	if out.Rendered != nil {
		out.Plan = p
		out.Unready = t.becomeUnready(p, view)
		out.Finalizer = p.Before.Finalizer == plan.AddFinalizer
		out.Tried = t.trySteps(ctx, writer, p, view)
		t.found.problems = append(t.found.problems, p.PruneProblems...)
	}
	ends := &plan.Plan{Prune: slices.Concat(p.Prune, p.RetainedFor(plan.StillUsed)), Release: p.Release}
	for _, r := range apply.Execute(ctx, writer, ends) {
		out.Tried = append(out.Tried, Tried{Result: r})
	}
	out.Drawn = t.generated
	out.Problems, out.Paused = t.found.problems, t.subject.IsPaused() && !t.subject.IsDeleting()
	return out
}

// trySteps tries the steps of a plan. What has to be recreated is tried as the next plan
// would have it.
func (t *reconciliation) trySteps(ctx context.Context, writer apply.ResourceWriter, p *plan.Plan, view *observe.Snapshot) (tried []Tried) {
	results := apply.Execute(ctx, writer, &plan.Plan{Steps: p.Steps})
	for i := range results {
		r, before := &results[i], len(t.found.problems)
		if wanted := r.Recreation; wanted == nil {
			t.learnStep(r.Step, r)
		} else {
			t.recordRecreation(r.Step, *wanted)
			preview, in := r.Preview, t.planInput(&render.Result{}, view)
			if in.RecreateImmutable(r.Step); r.Step.Action == plan.Recreate {
				r.Outcome = writer.Write(ctx, r.Step)
				t.learnStep(r.Step, r)
			} else if r.Step.Problem != nil {
				t.found.add(*r.Step.Problem)
			}
			r.Preview = cmp.Or(r.Preview, preview)
		}
		one := Tried{Result: *r}
		if len(t.found.problems) > before {
			problem := t.found.problems[before]
			one.Problem = &problem
		}
		tried = append(tried, one)
	}
	return tried
}

// becomeUnready returns the live children of a resource that is ready by its status which
// are judged not ready as they are now. Claims are left out: who looks from outside may
// not be able to read their classes.
func (t *reconciliation) becomeUnready(p *plan.Plan, view *observe.Snapshot) (all []status.Child) {
	if t.subject.IsDeleting() || !status.ReportedBy(t.subject.Resource.Object).IsReady() {
		return nil
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		l := view.LiveOf(s.Child)
		if l == nil || s.Child.Policy.Patch || readiness.ReadsClasses(t.subject.Version.Health(), l.GVK.GroupKind()) {
			continue
		}
		if c := t.describeChild(view, *l, p); !c.Ready {
			all = append(all, c)
		}
	}
	return all
}

// World is what the templates of a resource see of the cluster, for a render
// that is made outside of a reconciliation.
func (r *Reconciler) World(v *observe.Version, resource *unstructured.Unstructured) template.World {
	_, _, view := newDryRun(r, v, resource)
	return view.World()
}

// newDryRun begins a reconciliation in which nothing is changed.
func newDryRun(r *Reconciler, v *observe.Version, resource *unstructured.Unstructured) (*reconciliation, *DryRun, *observe.Snapshot) {
	t := r.newReconciliation(resource, Choice{Version: v}, newMemory(resource))
	out := &DryRun{}
	t.mode = tries
	t.inheritOverridden()
	view := observe.Take(t.subject, t.texts, t.judgeChild)
	t.inheritHealth(view)
	return t, out, view
}
