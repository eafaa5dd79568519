package reconcile

import (
	"context"
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/own"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// patch applies our fields to somebody else's object.
func (w *write) patch(ctx context.Context) error {
	uid, owner, sub := w.Live.Meta.GetUID(), w.owner().UID, w.Child.Policy.Subresource
	answer, err := w.to.Patch(ctx, w.resource, w.Document, apply.Patching{Object: uid, Owner: owner, Subresource: sub})
	if err != nil {
		return err
	}
	applies.WithLabelValues(w.name, "patch").Inc()
	entry, _, err := own.OursAt(answer.GetManagedFields(), api.PatchManager(owner), sub)
	if err != nil {
		return fmt.Errorf("reading managedFields of %s: %w", w.named(), err)
	}
	w.cluster.Reads.Note(answer.GroupVersionKind(), answer)
	w.locked(func() {
		w.memory.applied[plan.PatchKey(uid, sub)] = plan.Memory{Hash: w.Hash, Digest: entry.Digest, Time: entry.Time}
		delete(w.memory.endings, string(plan.PatchKey(uid, sub)))
		w.override(own.Differences(w.Document.Object, answer.Object))
	})
	return nil
}
