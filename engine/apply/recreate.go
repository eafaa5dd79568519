package apply

import (
	"cmp"
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// explainRefusal finds out what it means that the API server refuses a change. If the content would
// be fine in a new object, and the file of the child allows it, the child has to be created
// again: whether and when it may be deleted is for the next plan to decide.
func (w *stepWrite) explainRefusal(ctx context.Context, o metav1.Object, err error) error {
	refusal := refusals.Classify(err)
	if refusal.Cause != refusals.Invalid {
		return err
	}
	if err := w.readPredecessor(ctx, o); err != nil {
		return err
	}
	answer, fresh := w.to.Probe(ctx, w.resource, w.document)
	if live, err := w.to.Read(ctx, w.resource, o.GetNamespace(), o.GetName()); err == nil {
		refusal = refusal.OfChange(refusals.Change{Sent: w.document, Live: live, Fresh: fresh})
	}
	if fresh == nil && refusal.Kind == refusals.Immutable {
		w.out.Preview = answer // the refusal does not say what would change
	}
	mayRecreate := w.step.Child.Policy.RecreateOnImmutable && (plan.Ours(w.Owner, o) || plan.Controls(w.Owner, o))
	switch {
	case mayRecreate && fresh == nil:
		w.out.Recreation = &plan.Recreation{Object: o, Hash: w.step.Hash, Why: refusal.Error(), Predecessor: w.predecessor}
		return nil
	case mayRecreate && refusals.Classify(fresh).Cause != refusals.Invalid:
		return fresh // it is not known yet
	}
	refusal.Remedy = cmp.Or(w.describeRemedy(refusal, fresh), refusal.Remedy)
	return refusal
}

// readPredecessor reads the object that is to be created again, if it has values that the
// next one takes over.
func (w *stepWrite) readPredecessor(ctx context.Context, o metav1.Object) error {
	if len(w.step.Child.Policy.Initial) == 0 {
		return nil
	}
	if w.predecessor == nil {
		read, err := w.to.Read(ctx, w.resource, o.GetNamespace(), o.GetName())
		switch {
		case err != nil:
			return err
		case read.GetUID() != o.GetUID():
			return waitFor(changedMeanwhile)
		}
		w.predecessor = read
	}
	w.document = plan.Successor(w.document, w.step.Child, w.predecessor.Object)
	return nil
}

// recreateChild deletes an object. Its deletion enqueues the resource, whose next plan creates it
// again. An object whose values the next one takes over is deleted as it was read.
func (w *stepWrite) recreateChild(ctx context.Context) (err error) {
	o := w.step.Recreated()
	if r := w.step.Recreation; r != nil {
		w.predecessor = r.Predecessor
	}
	how := metav1.DeletePropagationBackground
	if w.step.Child.Policy.KeepDependents {
		how = metav1.DeletePropagationOrphan
	}
	w.out.Over = o
	if err := w.readPredecessor(ctx, o); err != nil {
		return err
	}
	if w.predecessor == nil {
		err = w.to.Delete(ctx, w.resource, o, how)
	} else {
		err = w.to.DeleteUnchanged(ctx, w.resource, w.predecessor, how)
	}
	if err != nil {
		return err
	}
	if w.to.Tries() { // people want to see what the new object would be
		if w.out.Preview, err = w.to.Probe(ctx, w.resource, w.document); err != nil {
			return err
		}
	}
	w.recordWrite(plan.WriteRecreate)
	w.out.IsDeleted, w.out.Predecessor = true, w.predecessor
	return nil
}

// describeRemedy returns what to do about a change that is refused although its content is fine, or
// "". The argument fresh is the refusal of a dry run that would create the child anew, or nil.
func (w *stepWrite) describeRemedy(r *refusals.Refusal, fresh error) string {
	recreate := "annotate it in the template with " + api.AnnotationOnImmutable + ": recreate"
	holdsData := kind.HoldsData(w.document.GroupVersionKind().GroupKind())
	switch {
	case r.Kind == refusals.ForeignEntry:
		return "remove that entry from the live object"
	case r.Kind == refusals.LeftOver && holdsData:
		return "remove that field from the live object"
	case r.Kind == refusals.LeftOver:
		return "remove that field from the live object; or, to delete and recreate it instead, " + recreate
	case r.Kind != refusals.Immutable:
		return ""
	case holdsData:
		return "it is never recreated, since what is in it would be lost" + initialHint(r.Fields, "to keep what it has")
	case w.step.Child.Policy.RecreateOnImmutable:
		return "it is not recreated, since a new one would be refused too: " + refusals.Classify(fresh).Error()
	}
	others := slices.DeleteFunc(slices.Clone(r.Fields), func(f refusals.Field) bool { return len(f.Holders) == 0 })
	return "to delete and recreate it instead, " + recreate + initialHint(others, "to leave the field to others")
}

// initialHint says how fields can be left as they are, and what for; "" if they cannot.
func initialHint(fields []refusals.Field, purpose string) string {
	var paths []string
	for _, f := range fields {
		if _, err := kind.InitialPaths(f.Name()); err == nil {
			paths = append(paths, f.Name())
		}
	}
	if len(paths) == 0 {
		return ""
	}
	return "; " + purpose + ", annotate it with " + api.AnnotationInitialFields + ": " + strings.Join(paths, ", ")
}
