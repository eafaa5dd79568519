package reconcile

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Rehearsal is one turn in which nothing is changed: what is rendered and
// planned, and how the server answers each write as a dry run.
type Rehearsal struct {
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
}

// An Act is one step of the plan that was tried.
type Act struct {
	Step *plan.Step
	// Answer is what the server would make of the object; nil if it refuses.
	Answer *unstructured.Unstructured
	// Over is the object that is changed, perhaps only its metadata; nil if it
	// would be created or patched.
	Over metav1.Object
	// Problem is what the status would tell of it, and Err why; or nil.
	Problem *status.Problem
	Err     error
}

// An End is a child that would be deleted or a patch that would be given back.
type End struct {
	Live observe.Live
	// Patch: it is a patch, of this subresource.
	Patch       bool
	Subresource string
	// Answer is the object without the patch; nil for a child.
	Answer *unstructured.Unstructured
	// Err says why it is refused.
	Err error
}

// Recreating is the reason of a Problem that says that a child is deleted and
// made anew.
const Recreating = "Recreating"

// NotOurs is the reason of a Problem about an object that is left alone.
const NotOurs = "NotOurs"

// Rehearse does everything that a turn with this version does for a resource
// but change anything. The cluster's Writer must be a dry one: each write of the
// plan is sent to it. What would be pruned is tried even where a turn would
// first have to apply something else.
func (r *Reconciler) Rehearse(ctx context.Context, v *Version, resource *unstructured.Unstructured) *Rehearsal {
	t, view := r.rehearsing(v, resource)
	out := t.rehearsal
	if letGo(resource) {
		out.Plan, out.Rendered = &plan.Plan{}, &render.Result{}
		return out
	}
	switch {
	case t.leaving():
		out.Rendered = &render.Result{}
	default:
		out.Rendered = t.render(ctx, view)
	}
	out.Plan = t.plan(out.Rendered, view)
	if p := out.Plan; p != nil {
		out.Finalizer = p.Cleanup && !t.leaving() && !slices.Contains(resource.GetFinalizers(), api.Finalizer)
		t.carryOut(ctx, p)
		t.heldBack(p)
		for _, l := range p.Prune {
			out.Ends = append(out.Ends, End{Live: l, Err: t.delete(ctx, l)})
		}
		for _, g := range p.GiveBack {
			answer, err := t.giveBack(ctx, g)
			out.Ends = append(out.Ends, End{g.Live, true, g.Subresource, answer, err})
		}
	}
	out.Problems, out.Paused = t.found.problems, t.paused() && !t.leaving()
	return out
}

// World is what the templates of a resource see of the cluster, for a render
// that is made outside of a turn.
func (r *Reconciler) World(v *Version, resource *unstructured.Unstructured) template.World {
	_, view := r.rehearsing(v, resource)
	return view
}

// rehearsing begins a turn in which nothing is changed.
func (r *Reconciler) rehearsing(v *Version, resource *unstructured.Unstructured) (*turn, *view) {
	t := &turn{
		Reconciler: r, version: v, choice: Choice{Version: v}, resource: resource, memory: newMemory(resource), trial: true,
		drawn: map[secretKey]string{}, undrawable: map[secretKey]string{}, fresh: map[string]bool{}, rehearsal: &Rehearsal{},
	}
	t.inherit()
	return t, t.look()
}

// rehearsed takes down what came of a write that was only tried.
func (w *write) rehearsed(p *status.Problem, err error) {
	if w.rehearsal != nil {
		w.rehearsal.Acts = append(w.rehearsal.Acts, Act{w.Step, w.answer, w.over, p, err})
	}
}
