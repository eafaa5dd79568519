package apply

import (
	"context"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// restoreObject reads an object, and makes it as rendered where an apply alone does not: one write
// removes what is in the way and puts the document in, and an apply of the same content then
// makes the fields ours. It reports whether that was done. Otherwise, the object as it was
// read is to be applied to.
func (w *stepWrite) restoreObject(ctx context.Context, o metav1.Object, refusal *refusals.Refusal) (
	read metav1.Object, done bool, err error,
) {
	found, err := w.to.Read(ctx, w.resource, o.GetNamespace(), o.GetName())
	switch needed := len(w.step.Child.Policy.Initial) > 0; {
	case err != nil && !needed && refusals.Classify(err).Cause == refusals.Forbidden:
		return o, false, nil // an apply alone may do
	case err != nil:
		return o, false, err
	case found.GetUID() != o.GetUID():
		return o, false, waitFor(changedMeanwhile)
	}
	if err := w.setInitial(found); err != nil {
		return o, false, err
	}
	if detour := plan.Detour(w.document, found); detour != nil {
		return found, true, w.takeDetour(ctx, found, detour)
	}
	out := w.step.Restore(w.document, found, refusedFields(refusal))
	to := Replacement{Object: out.Object, Document: w.document.Object}
	if _, ours := ownership.MarkAt(found.GetManagedFields(), api.FieldManager, ""); !ours {
		if rest, changed := ownership.Relinquished(found.GetManagedFields(), w.document.Object, api.FieldManager); changed {
			to.Managed = rest
		}
	}
	if to.Object == nil && (to.Managed == nil || w.to.Tries()) {
		return found, false, nil
	}
	answer, err := w.to.Replace(ctx, w.resource, found, to)
	if err != nil {
		return found, true, err
	}
	if w.to.Tries() { // the apply that follows changes owners alone
		return found, true, w.finishWrite(ctx, answer)
	}
	w.recordWrite(plan.WriteManagedFields)
	return found, true, w.applyTo(ctx, answer)
}

// mayRestore reports whether an apply may have been refused for what is in the live object.
func mayRestore(refusal *refusals.Refusal) bool {
	return (refusal.Kind == refusals.BadContent || refusal.Kind == refusals.DuplicateValue) && len(refusal.Fields) > 0
}

// setInitial makes the document for an object that was read: it has its values of fields that
// are only set initially.
func (w *stepWrite) setInitial(read *unstructured.Unstructured) (err error) {
	if len(w.step.Child.Policy.Initial) == 0 {
		return nil
	}
	seen := &live.Object{GVK: w.document.GroupVersionKind(), Meta: read, Body: read.Object}
	w.document, _, err = plan.Document(w.Owner, w.step.Child, seen)
	return err
}

// takeDetour applies what leads to the document, and then the document.
func (w *stepWrite) takeDetour(ctx context.Context, o metav1.Object, detour *unstructured.Unstructured) (err error) {
	if w.to.Tries() { // a dry run shows one write: a new object is what comes of both
		w.out.Preview, err = w.to.Probe(ctx, w.resource, w.document)
		return err
	}
	answer, err := w.to.Update(ctx, w.resource, detour, o.GetUID())
	if err != nil {
		return err
	}
	w.recordWrite(plan.WriteUpdate)
	return w.applyTo(ctx, answer)
}

// unique is how the API server says in other words that a value is already taken.
var unique = regexp.MustCompile(`must be unique|must not already exist`)

func refusedFields(refusal *refusals.Refusal) (all []ownership.Refused) {
	if refusal == nil {
		return nil
	}
	for _, f := range refusal.Fields {
		all = append(all, ownership.Refused{Path: f.Path, IsDuplicate: f.IsDuplicate || unique.MatchString(f.Text)})
	}
	return all
}
