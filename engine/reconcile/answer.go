package reconcile

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/own"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// take takes up what the server made of the document.
func (w *write) take(ctx context.Context, answer *unstructured.Unstructured) error {
	w.answer = answer
	differ := own.Differences(w.Document.Object, answer.Object)
	if i := own.CoOwner(answer.GetManagedFields(), api.FieldManager); i >= 0 {
		dropped, err := w.to.DropEntry(ctx, w.resource, answer, i)
		if err != nil { // it changed meanwhile; the next look finds the entry still there
			w.cluster.Children.Note(answer.GroupVersionKind(), answer)
			return soon("an earlier writer holds its fields too")
		}
		w.did(metrics.Entry)
		answer = dropped
	}
	entry, _, err := own.Ours(answer.GetManagedFields(), api.FieldManager)
	if err != nil {
		return fmt.Errorf("reading managedFields of %s: %w", w.named(), err)
	}
	w.cluster.Children.Note(answer.GroupVersionKind(), answer)
	w.locked(func() {
		w.memory.take(w.child(), answer.GetUID(), plan.Memory{Hash: w.Hash, Digest: entry.Digest, Time: entry.Time})
		w.override(differ)
	})
	return nil
}

// conclude turns the outcome of a write into findings and memory.
func (w *write) conclude(err error) {
	key := w.key()
	w.noteLost(err)
	if err == nil {
		delete(w.memory.setbacks, key)
		w.rehearsed(nil, nil)
		return
	}
	var h *held
	var p status.Problem
	var when retry
	if errors.As(err, &h) {
		p = status.Problem{Severity: h.severity, Reason: h.reason, Message: w.named() + ": " + h.message}
		when = h.when
		when.now = w.now
	} else {
		p, when = w.refused(err)
	}
	w.memory.fail(key, w.Hash, p, when)
	w.rehearsed(&p, err)
	w.report(p)
	if s := w.memory.setbacks[key]; !s.until.IsZero() {
		w.found.again(s.until.Sub(w.now))
	}
}
