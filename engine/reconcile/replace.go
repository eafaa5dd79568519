package reconcile

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// replace makes an object again whose change was refused, where its file allows
// that and the API would take the new one. Else it returns the refusal.
func (w *stepExecutor) replace(ctx context.Context, o metav1.Object, err error) error {
	refusal := apply.Classify(err)
	if refusal.Cause != apply.Invalid || !plan.Ours(w.run.subject.owner(), o) && !plan.Controls(w.run.subject.owner(), o) {
		return err
	}
	if w.step.IfInvalid == plan.Tell {
		w.predictAnswer(ctx, refusal)
		return err
	}
	if _, probed := w.to.Probe(ctx, w.resource, w.step.Document); probed != nil {
		if apply.Classify(probed).Cause != apply.Invalid {
			return probed // nobody knows yet
		}
		return err // the content itself is refused, not the change
	}
	if w.step.IfInvalid == plan.Spare {
		return w.spared(o)
	}
	if err := w.run.mayDelete(w.step.Document.GroupVersionKind().GroupKind(), o); err != nil {
		return unapproved(err)
	}
	return w.recreate(ctx, o, "it is recreated, since the API refuses to change it: "+refusal.Error())
}

// predictAnswer finds out, for people, what an object would be whose change is
// refused: the refusal itself does not tell what would change.
func (w *stepExecutor) predictAnswer(ctx context.Context, refusal *apply.Refusal) {
	if !immutable.MatchString(refusal.Error()) {
		return
	}
	if answer, err := w.run.executor.replacement(ctx, w); err == nil && answer != nil {
		w.answer = answer
	}
}

// recreate deletes an object; its deletion wakes us, and it is created again.
func (w *stepExecutor) recreate(ctx context.Context, o metav1.Object, why string) error {
	how := metav1.DeletePropagationBackground
	if w.step.Child.Policy.KeepDependents {
		how = metav1.DeletePropagationOrphan
	}
	if err := w.to.Delete(ctx, w.resource, o, how); err != nil {
		return err
	}
	var err error
	if w.answer, err = w.run.executor.replacement(ctx, w); err != nil {
		return err
	}
	w.run.executor.wrote(metrics.Recreate)
	w.locked(w.run.known.failures.progressed)
	return seldom(status.Waiting, Recreating, why)
}
