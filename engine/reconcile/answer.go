package reconcile

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// recordAnswer takes up what the server made of the document.
func (w *stepExecutor) recordAnswer(ctx context.Context, answer *unstructured.Unstructured) error {
	w.answer = answer
	differ := ownership.Differences(w.step.Document.Object, answer.Object)
	managed := answer.GetManagedFields()
	if without, err := w.dropOthers(ctx, answer); err != nil { // it changed meanwhile; the next look finds the entry still there
		w.run.r.cluster.recordWrite(answer)
		return soon("an earlier writer holds its fields too")
	} else if without != nil {
		w.run.executor.wrote(metrics.Entry)
		answer, managed = without, without.GetManagedFields()
	}
	mark, _ := ownership.MarkAt(managed, api.FieldManager, "")
	w.run.r.cluster.recordWrite(answer)
	w.locked(func() {
		w.run.known.children.recordAnswer(w.child(), answer.GetUID(), plan.Memory{Hash: w.step.Hash, Digest: mark.Digest, Time: mark.Time})
		w.override(differ)
		if w.drawn() {
			w.forgetDrawn()
		}
	})
	return nil
}

// dropOthers takes from managedFields what hides who wrote a child: the entry of an
// earlier writer, or else another's stringData. It returns nil if there is neither.
func (w *stepExecutor) dropOthers(ctx context.Context, answer *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	managed := answer.GetManagedFields()
	if i := ownership.CoOwner(managed, api.FieldManager); i >= 0 {
		return w.to.DropEntry(ctx, w.resource, answer, i)
	}
	i := ownership.PlainText(managed, api.FieldManager)
	if i < 0 {
		return nil, nil
	}
	left, err := ownership.WithoutPlainText(managed[i])
	if err != nil {
		return nil, err
	}
	return w.to.CutEntry(ctx, w.resource, answer, apply.Cut{Index: i, Fields: left})
}

// conclude turns the outcome of a write into findings and memory.
func (w *stepExecutor) conclude(err error) {
	key := w.key()
	w.recordUnconfirmed(err)
	if err == nil {
		delete(w.run.known.failures.failedWrites, key)
		w.run.executor.executed(w, nil, nil)
		return
	}
	w.now = w.run.r.now() // waits begin with the answer
	var h *deferred
	var p status.Problem
	var when retry
	if errors.As(err, &h) {
		p = status.Problem{Severity: h.severity, Reason: h.reason, Message: w.named() + ": " + h.message}
		when = h.when
		when.now = w.now
	} else {
		p, when = w.refused(err)
	}
	w.run.known.failures.recordFailed(key, w.content, p, when)
	w.run.known.failures.failedWrites[key].othersMark = w.othersInTheWay(err)
	w.run.executor.executed(w, &p, err)
	w.report(p)
	if s := w.run.known.failures.failedWrites[key]; !s.until.IsZero() {
		w.run.found.again(s.until.Sub(w.now))
	}
}

// othersInTheWay identifies what others own of the live object, if the API server refuses
// the write for a part of that object; "" if not.
func (w *stepExecutor) othersInTheWay(err error) string {
	kind := apply.Classify(err).Kind
	if w.step.Live == nil || kind != apply.ForeignEntry && kind != apply.LeftOver {
		return ""
	}
	return othersMark(w.step.Live.Meta)
}

func othersMark(o metav1.Object) string {
	return string(o.GetUID()) + ": " + ownership.OthersMark(o.GetManagedFields(), api.FieldManager)
}

// isWayChanged reports whether a write failed for what others own of the live object, and
// that changed since: somebody may have removed what was in the way.
func (w *stepExecutor) isWayChanged(s *failedWrite) bool {
	return s.othersMark != "" && w.step.Live != nil && s.othersMark != othersMark(w.step.Live.Meta)
}
