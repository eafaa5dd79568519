package reconcile

import (
	"context"
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A Choice is how one resource is served in one turn.
type Choice struct {
	Version *Version
	// Hold: nothing is applied or pruned, since the folder that made the
	// children is not here and the new one has not reached the resource.
	Hold bool
	// Problem is told beside what the turn finds out, or nil.
	Problem *status.Problem
	// MayReplace says why a child may not be deleted to be made anew; nil
	// allows it.
	MayReplace func(gk schema.GroupKind, namespace, name string) error
}

// An Outcome is what came of a turn.
type Outcome struct {
	Version *Version
	Ready   bool
	// Refused says which child the API refuses for its content, Forbidden which
	// one it forbids.
	Refused, Forbidden string
}

// Follow lets choose decide at the start of a turn, and tells served at its
// end. Both are called by several workers at once and must not block.
func (r *Reconciler) Follow(choose func(*unstructured.Unstructured) Choice, served func(*unstructured.Unstructured, Outcome)) {
	r.choose, r.served = choose, served
}

// held says whether nothing of the resource may be changed, and tells why.
func (t *turn) held() bool {
	if t.choice.Problem != nil {
		t.found.add(*t.choice.Problem)
	}
	switch {
	case t.version.Removed:
		t.found.add(status.Problem{Severity: status.Stalled, Reason: "FolderRemoved",
			Message: "the folder of this kind was removed: the children stay as they are, and deleting this resource deletes them"})
		return true
	case t.choice.Hold && !slices.Contains(fromChildren, t.readyReason()):
		t.found.add(status.Problem{Severity: status.Waiting, Reason: "RolloutPending",
			Message: "the folder of this kind changed, and its rollout has not reached this resource"})
	}
	return t.choice.Hold
}

// fromChildren are the reasons of Ready that the children alone make. A held
// resource that was well is as well as its children; one that was not stays so
// until it is reached.
var fromChildren = []string{"Ready", "NotReady", "ChildrenNotReady", "ChildFailed"}

func (t *turn) readyReason() string {
	reason, _ := status.Condition(t.resource.Object, "Ready")["reason"].(string)
	return reason
}

// mayReplace says why a child may not be deleted now to be made anew.
func (w *write) mayReplace() error {
	if w.choice.MayReplace == nil {
		return nil
	}
	return w.choice.MayReplace(w.Document.GroupVersionKind().GroupKind(), w.Document.GetNamespace(), w.Document.GetName())
}

// waitsForApproval is the reason of a write that a rollout holds.
const waitsForApproval = "WaitsForApproval"

func unapproved(err error) error {
	return &held{status.Waiting, waitsForApproval, err.Error(), retry{atLeast: time.Minute, most: longestGap}}
}

// approved says whether a write that a rollout held need not wait any more.
func (w *write) approved(s *setback) bool {
	return s.problem.Reason == waitsForApproval && w.mayReplace() == nil
}

// tellServed tells what came of the turn.
func (t *turn) tellServed(ready bool) {
	out := Outcome{Version: t.version, Ready: ready}
	for _, p := range t.found.problems {
		switch p.Reason {
		case "Invalid":
			out.Refused = p.Message
		case "Forbidden":
			out.Forbidden = p.Message
		}
	}
	if !t.choice.Hold {
		t.served(t.resource, out)
	}
}

// A Tried is what a version would make of a resource.
type Tried struct {
	Plan *plan.Plan
	// Waits: some file waits, so more may come.
	Waits bool
	// Pending: something that the templates read is on its way; the same trial
	// says more once it is there.
	Pending bool
	// Live is how many live children the resource has.
	Live int
	// Err says why it cannot be rendered; Plan is then nil.
	Err error
	// Same: no child would change, nor what the status says. StatusErr says,
	// if no child would change, why status.yaml cannot be rendered: before the
	// children are as planned that is too early to say.
	Same      bool
	StatusErr error
}

// Try plans for a resource with some version, from what is known, and changes
// nothing.
func (r *Reconciler) Try(ctx context.Context, v *Version, resource *unstructured.Unstructured) Tried {
	t := &turn{Reconciler: r, version: v, choice: Choice{Version: v}, resource: resource, memory: &memory{made: map[string]types.UID{}}, trial: true}
	t.inherit()
	view := t.look()
	rendered := t.render(ctx, view)
	p := t.plan(rendered, view)
	out := Tried{Plan: p, Waits: waits(rendered)}
	if p != nil && !out.Waits && p.Same() {
		out.Same, out.StatusErr = t.tryStatus(ctx, p, view)
	}
	out.Pending = view.pending
	for _, l := range view.live {
		if plan.Ours(t.owner(), l.Meta) {
			out.Live++
		}
	}
	if p == nil {
		out.Err = errors.New(t.found.first())
	}
	return out
}

// tryStatus says whether the status would say what it says, where the children
// are as planned.
func (t *turn) tryStatus(ctx context.Context, p *plan.Plan, w *view) (same bool, err error) {
	live, _ := t.resource.Object["status"].(map[string]any)
	fields := t.own(ctx, w)
	if fields == nil {
		return false, errors.New(t.found.last())
	}
	out, err := status.Make(status.Input{
		Generation: t.resource.GetGeneration(), Live: t.ours(live), Now: metav1.Now(),
		Children: t.children(p, w), Own: fields, Problems: t.found.problems, Paused: t.paused(),
	})
	if err != nil {
		return false, err
	}
	desired, _ := t.pruned(out.Status)
	return !t.version.hasStatus() || t.says(desired, live), nil
}

func waits(rendered *render.Result) bool { return rendered != nil && len(rendered.Waiting) > 0 }

func (f *findings) first() string {
	if len(f.problems) == 0 {
		return "it cannot be rendered"
	}
	return f.problems[0].Message
}

func (f *findings) last() string {
	if len(f.problems) == 0 {
		return "its status cannot be rendered"
	}
	return f.problems[len(f.problems)-1].Message
}

// Key is the name of a resource.
func Key(o *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
