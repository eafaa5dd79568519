package reconcile

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
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
	Acts     []Act
	Ends     []End
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

// An Act is one step of the plan that was tried.
type Act struct {
	Step *plan.Step
	// Answer is what the server would make of the object. Where it refuses to
	// change an immutable field, it is what a new object would be; nil if it
	// refuses that too.
	Answer *unstructured.Unstructured
	// Over is the object that is changed, perhaps only its metadata; nil if it
	// would be created or patched.
	Over metav1.Object
	// Problem is what the status would tell of it, and Err why; or nil.
	Problem *status.Problem
	Err     error
}

// An End is a child that would be deleted or a patch that would be released.
type End struct {
	Live live.Object
	// Patch: it is a patch, of this subresource.
	Patch       bool
	Subresource string
	// Answer is the object without the patch; nil for a child.
	Answer *unstructured.Unstructured
	// Err says why it is refused.
	Err error
}

// DryRun does everything that a reconciliation with this version does for a resource
// but change anything. The cluster's Writer must be a dry one: each write of the
// plan is sent to it. What would be pruned is tried even where a reconciliation would
// first have to apply something else.
func (r *Reconciler) DryRun(ctx context.Context, v *Version, resource *unstructured.Unstructured) *DryRun {
	t, out, view := r.dryRunning(v, resource)
	if releaseOf(resource) {
		out.Plan, out.Rendered = &plan.Plan{}, &render.Result{}
		return out
	}
	switch {
	case t.subject.deleting():
		out.Rendered = &render.Result{}
	default:
		out.Rendered = t.render(ctx, view)
	}
	out.Plan = t.plan(out.Rendered, view)
	if p := out.Plan; p != nil {
		out.Unready = t.becomeUnready(p, view)
		out.Finalizer = p.Cleanup && !t.subject.deleting() && !slices.Contains(resource.GetFinalizers(), api.Finalizer)
		t.execute(ctx, p)
		t.protected(p)
		for _, g := range p.Release {
			answer, err := t.releasePatches(ctx, g)
			out.Ends = append(out.Ends, End{g.Live, true, g.Subresource, answer, err})
		}
	}
	if p := cmp.Or(out.Plan, t.stuck); p != nil {
		for _, l := range slices.Concat(p.Prune, p.RetainedFor(plan.StillUsed)) {
			out.Ends = append(out.Ends, End{Live: l, Err: t.delete(ctx, l)})
		}
	}
	out.Problems, out.Paused = t.found.problems, t.subject.paused() && !t.subject.deleting()
	return out
}

// becomeUnready returns the live children of a resource that is ready by its status which
// are judged not ready as they are now. Claims are left out: who looks from outside may
// not be able to read their classes.
func (t *reconciliation) becomeUnready(p *plan.Plan, w *snapshot) (all []status.Child) {
	if t.subject.deleting() || !status.ReportedBy(t.subject.resource.Object).IsReady() {
		return nil
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		l := w.liveOf(s.Child)
		if l == nil || s.Child.Policy.Patch || readiness.ReadsClasses(t.subject.version.Health(), l.GVK.GroupKind()) {
			continue
		}
		if c := t.describeChild(w, *l, p); !c.Ready {
			all = append(all, c)
		}
	}
	return all
}

// World is what the templates of a resource see of the cluster, for a render
// that is made outside of a reconciliation.
func (r *Reconciler) World(v *Version, resource *unstructured.Unstructured) template.World {
	_, _, view := r.dryRunning(v, resource)
	return view
}

// dryRunning begins a reconciliation in which nothing is changed.
func (r *Reconciler) dryRunning(v *Version, resource *unstructured.Unstructured) (*reconciliation, *DryRun, *snapshot) {
	t := r.reconciliation(resource, Choice{Version: v}, newResourceState(resource))
	out := &DryRun{}
	t.executor = out
	t.inheritOverridden()
	view := t.takeSnapshot()
	t.inheritHealth(view)
	return t, out, view
}
