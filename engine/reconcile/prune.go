package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// An ending is a child that was to be deleted, or a patch that was to be given
// back, and that is seen still.
type pendingDelete struct {
	tries int
	// again is when to try again; zero: it was done.
	again   time.Time
	problem status.Problem
	// release is the patch that is to be released, or nil; forbidden: no right
	// allows that.
	release   *plan.Release
	forbidden bool
	// refused is when the API first refused the object that would be left, or
	// zero; dropped: our entry is off it since; told: that it was let go.
	refused            time.Time
	dropped, announced bool
}

// releaseLimit is how long the resource tells of a patch that cannot be released,
// and waits with it.
const releaseLimit = 10 * time.Minute

// released reports whether a patch that cannot be released is waited for no more.
func (e *pendingDelete) released(now time.Time) bool {
	return !e.refused.IsZero() && now.Sub(e.refused) >= releaseLimit
}

// prune deletes the children and releases the patches that were not
// rendered, but only after everything that was rendered is applied.
func (t *reconciliation) prune(ctx context.Context, p *plan.Plan) {
	if p == nil || t.found.incomplete {
		return
	}
	t.protected(p)
	open := map[string]bool{}
	for _, l := range p.Prune {
		key := string(l.Meta.GetUID())
		open[key] = true
		if t.isApproved(l) { // approved, all are looked at
			t.endDeletes(key, func(*pendingDelete) error { return t.delete(ctx, l) })
		}
	}
	for _, l := range p.RetainedFor(plan.StillUsed) { // their deletion counts for the rollout that replaces them
		t.isApproved(l)
	}
	for _, r := range p.Release {
		key := string(plan.PatchKey(r.Live.Meta.GetUID(), r.Subresource))
		open[key] = true
		t.endDeletes(key, func(e *pendingDelete) error { return t.releasePatch(ctx, r, e) })
	}
	if p == t.stuck { // it does not know all that ends
		return
	}
	maps.DeleteFunc(t.known.failures.pendingDeletes, func(key string, e *pendingDelete) bool { return !open[key] && t.deleteEnded(e) })
}

// isApproved reports whether no rollout keeps a child from being deleted, or reports what it
// waits for.
func (t *reconciliation) isApproved(l live.Object) bool {
	err := t.mayDelete(l.GVK.GroupKind(), l.Meta)
	if err != nil {
		t.found.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonWaitsForApproval, Message: err.Error()})
	}
	return err == nil
}

// deleteEnded reports whether there is nothing more to tell of an ending that the plan
// does not have any more.
func (t *reconciliation) deleteEnded(e *pendingDelete) bool {
	now := t.r.now()
	switch {
	case e.dropped && !e.released(now):
		t.waitsFor(e, now)
		return false
	case e.dropped, e.forbidden && !slices.Contains(t.subject.version.Patched, e.release.Live.GVK):
		t.announceReleased(e)
	}
	return true
}

func (t *reconciliation) waitsFor(e *pendingDelete, now time.Time) {
	t.found.add(e.problem)
	if e.dropped {
		t.found.again(e.refused.Add(releaseLimit).Sub(now))
		return
	}
	t.found.again(e.again.Sub(now))
}

// protected says of which children the resource must allow that they go.
func (t *reconciliation) protected(p *plan.Plan) {
	for _, l := range p.RetainedFor(plan.HoldsData) {
		t.found.add(status.Problem{Severity: status.Stalled, Reason: api.ReasonPruneHeld, Message: fmt.Sprintf(
			"%s is not rendered any more and is kept, since what is in it would be lost; to delete it, annotate this resource with %s=%s",
			plan.RefOf(l), api.AnnotationAllowPrune, plan.Allowance(l.GVK.GroupKind(), l.Meta))})
	}
}

// endDeletes does one ending unless that was done or refused just now.
func (t *reconciliation) endDeletes(key string, do func(*pendingDelete) error) {
	now := t.r.now()
	e := t.known.failures.pendingDeletes[key]
	if e == nil {
		e = &pendingDelete{}
		t.known.failures.pendingDeletes[key] = e
	} else if e.again.IsZero() {
		return
	}
	if e.released(now) {
		t.announceReleased(e)
		return
	}
	if !e.dropped && !now.Before(e.again) {
		e.problem = status.Problem{Severity: status.Retry, Reason: api.ReasonPruneFailed}
		err := do(e)
		if err == nil {
			e.again = time.Time{}
			return
		}
		t.refusal(err)
		e.problem.Message = err.Error()
		e.again = now.Add(backOff(e.tries, apply.Classify(err).RetryAfter, longWait))
		e.tries++
	}
	t.waitsFor(e, now)
}

// gone reports whether a refusal means that the very object is not there any more:
// a conflict must be about its uid.
func gone(err error) bool {
	answer := apply.Classify(err).Err
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && strings.Contains(strings.ToLower(answer.Error()), "uid")
}

func (t *reconciliation) delete(ctx context.Context, l live.Object) error {
	served, found := t.r.cluster.Served().Resource(l.GVK)
	if !found {
		return fmt.Errorf("the API server does not tell of %s just now", l.GVK.Kind)
	}
	how := metav1.DeletePropagationBackground
	if t.subject.deleting() { // what comes later in the order comes after the dependents too
		how = metav1.DeletePropagationForeground
	}
	w, err := t.subject.writer()
	if err == nil {
		err = w.Delete(ctx, served, l.Meta, how)
	}
	if err == nil {
		t.executor.wrote(metrics.Delete)
		if !t.subject.deleting() {
			t.pruned = append(t.pruned, l.GVK.Kind+" "+place(l.Meta))
		}
		t.known.failures.progressed()
	}
	if err == nil || gone(err) {
		return nil
	}
	return fmt.Errorf("pruning %s %s: %w", l.GVK.Kind, place(l.Meta), err)
}

// releasePatch gives a patch back. Where the API refuses the object that would be
// left, trying again is of no use: our entry is dropped, and the fields stay.
func (t *reconciliation) releasePatch(ctx context.Context, r plan.Release, e *pendingDelete) error {
	_, err := t.releasePatches(ctx, r)
	if err == nil {
		return nil
	}
	e.release = &r
	refusal := apply.Classify(err)
	if e.forbidden = refusal.Cause == apply.Forbidden; refusal.Cause != apply.Invalid && !refusal.Cause.IsDenied() {
		return err
	}
	if e.refused.IsZero() {
		e.refused = t.r.now()
	}
	e.problem.Severity, e.problem.Reason = status.Waiting, api.ReasonNotGivenBack
	e.dropped = t.dropEntry(ctx, r) == nil
	return fmt.Errorf("%w; its fields stay as they are, and after ten minutes it is not waited for any more", err)
}

// dropEntry drops our entry for a patch, if the object is as it was seen.
func (t *reconciliation) dropEntry(ctx context.Context, r plan.Release) error {
	served, found := t.r.cluster.Served().Resource(r.Live.GVK)
	w, err := t.subject.writer()
	if !found || err != nil {
		return err
	}
	managed := r.Live.Meta.GetManagedFields()
	i := slices.IndexFunc(managed, func(m metav1.ManagedFieldsEntry) bool {
		return m.Manager == api.PatchManager(t.subject.owner().UID) && m.Operation == metav1.ManagedFieldsOperationApply &&
			m.Subresource == r.Subresource
	})
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(r.Live.GVK)
	o.SetNamespace(r.Live.Meta.GetNamespace())
	o.SetName(r.Live.Meta.GetName())
	o.SetResourceVersion(r.Live.Meta.GetResourceVersion())
	o.SetManagedFields(managed)
	answer, err := w.DropEntry(ctx, served, o, i)
	if err != nil {
		return err
	}
	t.executor.wrote(metrics.Entry)
	t.r.cluster.Reads.RecordWrite(r.Live.GVK, answer)
	return nil
}

// releasePatches releases the fields of a patch and returns the object, nil if it
// is gone. What a subresource refuses to release counts as released.
func (t *reconciliation) releasePatches(ctx context.Context, r plan.Release) (*unstructured.Unstructured, error) {
	served, found := t.r.cluster.Served().Resource(r.Live.GVK)
	if !found {
		return nil, fmt.Errorf("the API server does not tell of %s just now", r.Live.GVK.Kind)
	}
	w, err := t.subject.writer()
	if err != nil {
		return nil, err
	}
	answer, err := w.ReleaseFields(ctx, served, r.Live.Meta,
		apply.Patching{Object: r.Live.Meta.GetUID(), Owner: t.subject.owner().UID, Subresource: r.Subresource})
	if err == nil {
		t.executor.wrote(metrics.ReleaseFields)
		t.r.cluster.Reads.RecordWrite(r.Live.GVK, answer)
		return answer, nil
	}
	if gone(err) || r.Subresource != "" && apply.Classify(err).Cause == apply.Invalid {
		return nil, nil
	}
	return nil, fmt.Errorf("giving back %s %s: %w", r.Live.GVK.Kind, place(r.Live.Meta), err)
}

// place is namespace/name, or the name of what has no namespace.
func place(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
