package reconcile

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// patch applies our fields to somebody else's object.
func (w *stepExecutor) patch(ctx context.Context) error {
	uid, owner, sub := w.step.Live.Meta.GetUID(), w.run.subject.owner().UID, w.step.Child.Policy.Subresource
	answer, err := w.to.Patch(ctx, w.resource, w.step.Document, apply.Patching{Object: uid, Owner: owner, Subresource: sub})
	if err != nil {
		return err
	}
	w.answer = answer
	w.run.executor.wrote(metrics.Patch)
	w.corrected()
	if answer, err = w.undouble(ctx, answer); err != nil {
		return err
	}
	entry, _, err := ownership.OursAt(answer.GetManagedFields(), api.PatchManager(owner), sub)
	if err != nil {
		return fmt.Errorf("reading managedFields of %s: %w", w.named(), err)
	}
	w.run.r.cluster.Reads.RecordWrite(answer.GroupVersionKind(), answer)
	w.locked(func() {
		w.run.known.children.applied[plan.PatchKey(uid, sub)] = plan.Memory{Hash: w.step.Hash, Digest: entry.Digest, Time: entry.Time}
		delete(w.run.known.failures.pendingDeletes, string(plan.PatchKey(uid, sub)))
		w.override(ownership.Differences(w.step.Document.Object, answer.Object))
	})
	return nil
}

// undouble takes our fields out of the entry by which the server says that
// somebody before us owns all fields of a patched object, if all entries were
// wiped: else we could never change ours again. The entry keeps the others:
// fields that nobody owns would go with the last of ours beside them. Where
// this process has not patched the object before, ours may really be another's.
func (w *stepExecutor) undouble(ctx context.Context, answer *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	managed, manager, made := answer.GetManagedFields(), api.PatchManager(w.run.subject.owner().UID), false
	w.locked(func() { _, made = w.run.known.children.applied[plan.PatchKey(answer.GetUID(), "")] })
	i := ownership.CoOwner(managed, manager)
	if i < 0 || w.step.Child.Policy.Subresource != "" || !made || len(w.step.Live.Meta.GetManagedFields()) > 0 {
		return answer, nil
	}
	entry, _, err := ownership.Ours(managed, manager)
	if err != nil {
		return nil, err
	}
	left, err := entry.Rest(managed[i])
	if err != nil {
		return nil, err
	}
	cut, err := w.to.CutEntry(ctx, w.resource, answer, apply.Cut{Index: i, Fields: left})
	if err == nil {
		w.run.executor.wrote(metrics.Entry)
	}
	return cut, err
}
