package reconcile

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A Choice is how one resource is served in one reconciliation.
type Choice struct {
	Version *observe.Version
	// Frozen: nothing is applied or pruned, since the folder that made the
	// children is not here and the new one has not reached the resource. Why says why
	// it is not here, or is "".
	Frozen bool
	Why    string
	// Undecided is true if it is not known yet which version serves the resource. Nothing
	// happens then; once it is known, the resource is reconciled again.
	Undecided bool
	// RollsOut: a newer version is going to change the resource, and does not
	// serve it yet.
	RollsOut bool
	// Refused says why a newer version cannot serve the resource, or is "". Ready
	// speaks of the one that does.
	Refused string
	// MayDelete says why a child may not be deleted, for good or to be recreated;
	// nil allows it.
	MayDelete func(gk schema.GroupKind, child metav1.Object) error
}

// An Outcome is what came of a reconciliation.
type Outcome struct {
	Version *observe.Version
	Ready   bool
	// WouldBeReady reports whether it is not Ready only since this reconciliation wrote.
	WouldBeReady bool
	// Failed reports whether a child failed, so that the resource is stalled.
	Failed bool
	// IsHeld reports whether it is not Ready only since children are kept that are no longer
	// rendered.
	IsHeld bool
	// Refused says which child the API refuses for its content, Forbidden which
	// one it forbids, since a right is missing or admission denies it.
	Refused, Forbidden string
}

// Follow lets choose decide at the start of a reconciliation, and tells served at its
// end. Both are called by several workers at once and must not block.
func (r *Reconciler) Follow(choose func(*unstructured.Unstructured) Choice, served func(*unstructured.Unstructured, Outcome)) {
	r.choose, r.served = choose, served
}

// isFrozen reports whether nothing of the resource may be changed, and adds the reason to the
// problems.
func (t renderer) isFrozen() bool {
	switch {
	case t.subject.Version.Removed:
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonFolderRemoved,
			Message: "the folder of this kind was removed: the children stay as they are, and deleting this resource deletes them"})
		return true
	case t.choice.Frozen && (t.subject.IsEdited() || !slices.Contains(fromChildren, t.subject.ReadyReason())):
		message := "the folder of this kind changed, and its rollout has not reached this resource"
		if t.choice.Why != "" {
			message += "; until then nothing of it changes, since " + t.choice.Why
		}
		t.found.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonRolloutPending, Message: message})
	}
	return t.choice.Frozen
}

// fromChildren are the reasons of Ready that the children alone make. A held
// resource that was well is as well as its children; one that was not, or that was
// edited since, waits until it is reached.
var fromChildren = []string{api.ReasonReady, api.ReasonStatusNotReady, api.ReasonChildrenNotReady, api.ReasonChildFailed}

// mayDelete says why a child may not be deleted now, for good or to be recreated.
// Of a resource that goes all may.
func (t *pass) mayDelete(gk schema.GroupKind, child metav1.Object) error {
	if t.choice.MayDelete == nil || t.subject.IsDeleting() {
		return nil
	}
	return t.choice.MayDelete(gk, child)
}

// recordServed tells what came of the reconciliation. A rollout takes a resource for ready once
// a reconciliation found nothing to write: what is to be written again because it was written
// never is.
func (t publisher) recordServed(ready bool, problems []status.Problem) {
	out := Outcome{Version: t.subject.Version, Ready: ready}
	if ready && t.choice.MayDelete != nil && !t.isAtRest() {
		out.Ready, out.WouldBeReady = false, !t.memory.attempts.HoldsRepeats()
		t.found.requeueAfter(firstWait)
	}
	out.Failed = slices.ContainsFunc(problems, func(p status.Problem) bool { return p.Reason == api.ReasonChildFailed })
	out.IsHeld = len(problems) > 0 && !slices.ContainsFunc(problems, func(p status.Problem) bool { return p.Reason != api.ReasonPruneBlocked })
	for _, p := range t.found.problems {
		switch {
		case isForbidden(p.Reason):
			out.Forbidden = p.Message
		case IsRefusal(p.Reason):
			out.Refused = p.Message
		}
	}
	if !t.choice.Frozen {
		t.r.served(t.subject.Resource, out)
	}
}

// A Preview is what a version would make of a resource.
type Preview struct {
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

// Preview plans for a resource with some version, from what is known, and changes
// nothing. A panic says of this resource that it cannot be rendered.
func (r *Reconciler) Preview(ctx context.Context, v *observe.Version, resource *unstructured.Unstructured) (out Preview) {
	var err error
	defer func() {
		if err != nil {
			NotePanic(r.name, err)
			out = Preview{Err: err}
		}
	}()
	defer panics.Catch(&err, "trying the folder on a "+r.gvk.Kind)
	t := r.newReconciliation(resource, Choice{Version: v}, newMemory(resource))
	t.mode = previews
	t.inheritOverridden()
	view := observe.Take(t.subject, t.texts, t.judgeChild)
	t.inheritHealth(view)
	rendered := t.renderChildren(ctx, view)
	p := t.makePlan(rendered, view)
	out = Preview{Plan: p, Waits: p.IsRendered && hasWaiting(rendered)}
	if p.IsRendered && !out.Waits && p.Same() {
		out.Same, out.StatusErr = t.previewStatus(ctx, p, view)
	}
	out.Pending = view.Pending
	for _, l := range view.Live {
		if plan.Ours(t.subject.Owner(), l.Meta) {
			out.Live++
		}
	}
	if !p.IsRendered && !t.subject.IsDeleting() {
		out.Plan, out.Err = nil, errors.New(t.found.firstMessage())
	}
	return out
}

// previewStatus reports whether the status would say what it says, where the children
// are as planned.
func (t publisher) previewStatus(ctx context.Context, p *plan.Plan, view *observe.Snapshot) (same bool, err error) {
	live := t.subject.ReadStatus()
	fields := t.ownStatus(ctx, view)
	if fields == nil {
		return false, errors.New(t.found.lastMessage())
	}
	out, err := status.Make(status.Input{
		Generation: t.subject.Resource.GetGeneration(), Live: live.OwnFields(), Now: metav1.Now(),
		Children: t.describeChildren(p, view), Own: fields, Problems: t.found.problems,
		Ignored: view.IgnoredAnnotations(), Paused: t.subject.IsPaused(),
		OtherVersions: plan.OtherVersions(t.subject.Owner(), view.Live),
	})
	if err != nil {
		return false, err
	}
	_, same = t.subject.DesiredStatus(out.Status, live)
	return !t.subject.Version.HasStatus() || same, nil
}

func hasWaiting(rendered *render.Result) bool { return rendered != nil && len(rendered.Waiting) > 0 }

func (f *findings) firstMessage() string {
	if len(f.problems) == 0 {
		return "it cannot be rendered"
	}
	return f.problems[0].Message
}

func (f *findings) lastMessage() string {
	if len(f.problems) == 0 {
		return "its status cannot be rendered"
	}
	return f.problems[len(f.problems)-1].Message
}

// Key is the name of a resource.
func Key(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
