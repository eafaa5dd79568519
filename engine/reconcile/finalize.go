package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// guard puts our finalizer on the resource before anything is made that the
// garbage collector would not undo. It reports whether the plan may be carried
// out.
func (t *reconciliation) guard(ctx context.Context, p *plan.Plan) bool {
	if p == nil {
		return false
	}
	if !p.Cleanup || t.subject.deleting() || slices.Contains(t.subject.resource.GetFinalizers(), api.Finalizer) {
		return true
	}
	err := t.finalizers(ctx, append(slices.Clone(t.subject.resource.GetFinalizers()), api.Finalizer))
	if err != nil {
		t.found.incomplete = true
		t.notRecorded(err)
	}
	return err == nil
}

// release takes our finalizer off a resource of which nothing is left that the
// garbage collector would not undo.
func (t *reconciliation) release(ctx context.Context, p *plan.Plan, w *snapshot) {
	if t.subject.deleting() || p.Cleanup || !slices.Contains(t.subject.resource.GetFinalizers(), api.Finalizer) {
		return
	}
	var left findings
	if w.unknown(&left); left.unclear || t.found.incomplete || len(t.known.children.unconfirmed) > 0 {
		return
	}
	if err := t.finalizers(ctx, t.subject.otherFinalizers()); err != nil {
		t.notRecorded(err)
	}
}

// finalizers writes the resource's finalizers, unless it changed meanwhile.
func (t *reconciliation) finalizers(ctx context.Context, all []string) error {
	return t.metadata(ctx, map[string]any{"finalizers": all, "resourceVersion": t.subject.resource.GetResourceVersion()})
}

// metadata merges fields into the resource's metadata; the answer stands for
// the resource from now on.
func (t *reconciliation) metadata(ctx context.Context, fields map[string]any) error {
	served, found := t.r.cluster.Resource(t.r.gvk)
	if !found {
		return fmt.Errorf("the cluster does not have %s any more", t.r.gvk.Kind)
	}
	if err := busyError(t.known.failures.attempts, plan.OpMetadata, t.r.now()); err != nil {
		return err
	}
	answer, err := t.r.cluster.Writer.Metadata(ctx, served, t.subject.resource, fields)
	if err != nil {
		err = fmt.Errorf("writing metadata of %s %s: %w", t.r.gvk.Kind, place(t.subject.resource), err)
	}
	if recordBusy(t.known.failures.attempts, plan.OpMetadata, err, t.r.now()); err != nil {
		t.countRefusal(err)
		return err
	}
	t.countRequest(metrics.Metadata)
	t.known.told.answered(answer, t.r.now())
	t.subject.resource = answer
	return nil
}

// releaseOf reports whether a resource is going without us.
func releaseOf(resource *unstructured.Unstructured) bool {
	return resource.GetDeletionTimestamp() != nil && !slices.Contains(resource.GetFinalizers(), api.Finalizer)
}

// announceFinalize is how long a deletion may take before the status says what it
// waits for.
const announceFinalize = 5 * time.Second

// finalize lets a resource go once nothing is left of it that would stay.
func (t *reconciliation) finalize(ctx context.Context, p *plan.Plan) (reconcile.Result, error) {
	if p == nil || t.outdated || len(t.found.problems) > 0 {
		if !t.found.incomplete { // a patch was not released
			t.recordOrphaning(ctx, p)
		}
		return t.report(ctx, p)
	}
	if since := t.r.now().Sub(t.subject.resource.GetDeletionTimestamp().Time); len(p.Left) > 0 && since < announceFinalize {
		return reconcile.Result{RequeueAfter: announceFinalize - since}, nil
	}
	if len(p.Left) > 0 {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonDeleting,
			Message: "waiting until these are gone: " + joinRefs(p.Left)})
		return t.report(ctx, p)
	}
	if err := t.finalizers(ctx, t.subject.otherFinalizers()); err != nil && !apierrors.IsNotFound(err) {
		t.notRecorded(err)
		return t.report(ctx, p)
	}
	t.reportOutliving(p)
	return reconcile.Result{}, nil
}
