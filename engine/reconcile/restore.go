package reconcile

import (
	"context"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// restore reads an object, and makes it as rendered where an apply alone does not: one
// write removes what is in the way and puts the document in, an apply of the same content
// then makes the fields ours. It reports whether that was done. Otherwise the object as it
// was read is to be applied to.
func (w *stepExecutor) restore(ctx context.Context, o metav1.Object, refusal *apply.Refusal) (read metav1.Object, done bool, err error) {
	found, err := w.to.Read(ctx, w.resource, o.GetNamespace(), o.GetName())
	switch needed := len(w.step.Child.Policy.Initial) > 0; {
	case err != nil && !needed && apply.Classify(err).Cause == apply.Forbidden:
		return o, false, nil // an apply alone may do
	case err != nil:
		return o, false, err
	case found.GetUID() != o.GetUID():
		return o, false, soon("it changed meanwhile and is looked at again")
	}
	if err := w.documentFor(found); err != nil {
		return o, false, err
	}
	if detour := plan.Detour(w.step.Document, found); detour != nil {
		return found, true, w.takeDetour(ctx, found, detour)
	}
	out := w.step.Restore(found, refusedFields(refusal))
	to := apply.Replacement{Object: out.Object, Document: w.step.Document.Object}
	if _, ours := ownership.MarkAt(found.GetManagedFields(), api.FieldManager, ""); !ours {
		if rest, changed := ownership.Relinquished(found.GetManagedFields(), w.step.Document.Object, api.FieldManager); changed {
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
		return found, true, w.recordAnswer(ctx, answer)
	}
	w.run.executor.wrote(metrics.Entry)
	return found, true, w.applyTo(ctx, answer)
}

// mayRestore reports whether an apply may have been refused for what is in the live object.
func mayRestore(refusal *apply.Refusal) bool {
	return (refusal.Kind == apply.BadContent || refusal.Kind == apply.DuplicateValue) && len(refusal.Fields) > 0
}

// documentFor makes the document for an object that was read: it has its values of fields
// that are only set initially.
func (w *stepExecutor) documentFor(read *unstructured.Unstructured) (err error) {
	if len(w.step.Child.Policy.Initial) == 0 {
		return nil
	}
	seen := &live.Object{GVK: w.step.Document.GroupVersionKind(), Meta: read, Body: read.Object}
	w.step.Document, w.step.Hash, err = plan.Document(w.run.subject.owner(), w.step.Child, seen)
	return err
}

// takeDetour applies what leads to the document, and then the document.
func (w *stepExecutor) takeDetour(ctx context.Context, o metav1.Object, detour *unstructured.Unstructured) error {
	if w.to.Tries() { // a dry run shows one write: a new object is what comes of both
		answer, err := w.to.Probe(ctx, w.resource, w.step.Document)
		w.answer = answer
		return err
	}
	answer, err := w.to.Update(ctx, w.resource, detour, o.GetUID())
	if err != nil {
		return err
	}
	w.run.executor.wrote(metrics.Update)
	return w.applyTo(ctx, answer)
}

// unique is how the API server says in other words that a value is already taken.
var unique = regexp.MustCompile(`must be unique|must not already exist`)

func refusedFields(refusal *apply.Refusal) []ownership.Refused {
	if refusal == nil {
		return nil
	}
	var all []ownership.Refused
	for _, f := range refusal.Fields {
		all = append(all, ownership.Refused{Path: f.Path, IsDuplicate: f.IsDuplicate || unique.MatchString(f.Text)})
	}
	return all
}
