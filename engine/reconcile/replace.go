package reconcile

import (
	"cmp"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// replace makes an object again whose change was refused, where its file allows
// that and the API would take the new one. Else it returns the refusal, with what
// it means.
func (w *stepExecutor) replace(ctx context.Context, o metav1.Object, err error) error {
	refusal := apply.Classify(err)
	if refusal.Cause != apply.Invalid {
		return err
	}
	if err := w.readPredecessor(ctx, o); err != nil {
		return err
	}
	answer, fresh := w.to.Probe(ctx, w.resource, w.step.Document)
	if live, err := w.to.Read(ctx, w.resource, o.GetNamespace(), o.GetName()); err == nil {
		refusal = refusal.OfChange(apply.Change{Sent: w.step.Document, Live: live, Fresh: fresh})
	}
	if fresh == nil && refusal.Kind == apply.Immutable {
		w.answer = answer // for people: the refusal does not say what would change
	}
	ours := plan.Ours(w.run.subject.owner(), o) || plan.Controls(w.run.subject.owner(), o)
	mayReplace := ours && w.step.IfInvalid != plan.Tell
	if mayReplace && fresh != nil && apply.Classify(fresh).Cause != apply.Invalid {
		return fresh // nobody knows yet
	}
	if !mayReplace || fresh != nil { // not allowed, or the content itself is refused
		refusal.Remedy = cmp.Or(w.remedy(refusal, fresh), refusal.Remedy)
		return refusal
	}
	if w.step.IfInvalid == plan.Spare {
		return w.spared(o)
	}
	if err := w.run.mayDelete(w.step.Document.GroupVersionKind().GroupKind(), o); err != nil {
		return unapproved(err)
	}
	return w.recreate(ctx, o, "it is recreated, since the API refuses to change it: "+refusal.Error())
}

// readPredecessor reads the object that is to be created again, if it has values that the
// next one takes over.
func (w *stepExecutor) readPredecessor(ctx context.Context, o metav1.Object) error {
	if len(w.step.Child.Policy.Initial) == 0 || w.predecessor != nil {
		return nil
	}
	read, err := w.to.Read(ctx, w.resource, o.GetNamespace(), o.GetName())
	switch {
	case err != nil:
		return err
	case read.GetUID() != o.GetUID():
		return soon("it changed meanwhile and is looked at again")
	}
	w.predecessor = read
	w.step.Document = plan.Successor(w.step.Document, w.step.Child, read.Object)
	return nil
}

// recreate deletes an object; its deletion wakes us, and it is created again.
func (w *stepExecutor) recreate(ctx context.Context, o metav1.Object, why string) error {
	how := metav1.DeletePropagationBackground
	if w.step.Child.Policy.KeepDependents {
		how = metav1.DeletePropagationOrphan
	}
	if err := w.deletePredecessor(ctx, o, how); err != nil {
		return err
	}
	var err error
	if w.answer, err = w.run.executor.replacement(ctx, w); err != nil {
		return err
	}
	w.run.executor.wrote(metrics.Recreate)
	w.locked(w.run.known.failures.progressed)
	return seldom(status.Waiting, api.ReasonRecreating, why)
}

// deletePredecessor deletes an object, as it was read where values of it are taken over.
func (w *stepExecutor) deletePredecessor(ctx context.Context, o metav1.Object, how metav1.DeletionPropagation) error {
	if err := w.readPredecessor(ctx, o); err != nil {
		return err
	}
	if w.predecessor == nil {
		return w.to.Delete(ctx, w.resource, o, how)
	}
	if err := w.to.DeleteUnchanged(ctx, w.resource, w.predecessor, how); err != nil || w.to.Tries() {
		return err
	}
	w.locked(func() {
		w.run.known.children.replaced[plan.Identity(w.step.Document)] = initialOf(w.predecessor.Object, w.step.Child.Policy.Initial)
	})
	return nil
}

// initialOf are the fields of an object that are only set initially.
func initialOf(body map[string]any, paths [][]string) map[string]any {
	out := map[string]any{}
	for _, path := range paths {
		if v, found, err := unstructured.NestedFieldCopy(body, path...); found && err == nil {
			_ = unstructured.SetNestedField(out, v, path...) // the way there is made of maps
		}
	}
	return out
}
