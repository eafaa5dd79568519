package reconcile

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// Another operator may have written what our watches do not show yet: the leader
// before this one, whose caches were filled before it took over, and whoever
// served a resource that comes from another share. Every write has a
// precondition, so this matters only where something is made again, nothing seems
// to be left, or the resource itself is seen late. Whoever lists at the start
// knows what was written before.

// recent is how long after another operator's last write something of it may be
// there that no watch shows.
const recent = 5 * time.Minute

// TookOver says that the caches were filled before this operator took over from
// another one, and when it did.
func (r *Reconciler) TookOver(since time.Time) { r.tookOverAt = since }

func (r *Reconciler) tookOver() bool { return r.now().Sub(r.tookOverAt) < recent }

// Reassigned notes a resource that came after the first list. If it has our
// finalizer, another operator has served it.
func (r *Reconciler) Reassigned(resource metav1.Object) {
	if !slices.Contains(resource.GetFinalizers(), api.Finalizer) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reassigned[resource.GetUID()] = r.now()
}

// Gone notes that a resource is gone from the cache. One that was never looked at
// is forgotten at once; any other in its own turn, which may still need what is
// known of it.
func (r *Reconciler) Gone(resource metav1.Object) {
	uid := resource.GetUID()
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, remembered := r.names[uid]; !remembered {
		delete(r.reassigned, uid)
		delete(r.deletions, uid)
	}
}

// suspectWrites remembers, of a resource that goes, that children and patches may be
// there which another operator made and no watch shows yet.
func (t confirmer) suspectWrites() {
	if t.memory.suspected {
		return
	}
	t.memory.suspected = true
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	arrived := t.r.now().Sub(t.r.reassigned[t.subject.resource.GetUID()]) < recent
	if !arrived && !t.r.tookOver() {
		return
	}
	add := func(l unconfirmedWrite) {
		if l.scope.Version != "" && (arrived || !t.r.confirmed[l]) {
			t.memory.unconfirmed[plan.Ref{GroupKind: l.scope.GroupKind(), IsPatch: l.patch}] = l
		}
	}
	for gvk := range t.subject.version.Children {
		add(unconfirmedWrite{scope: cluster.Scope{GroupVersionKind: gvk}})
	}
	for _, gvk := range t.subject.version.Patched {
		add(unconfirmedWrite{scope: cluster.Scope{GroupVersionKind: gvk}, patch: true})
	}
}

// isStale reports whether the cache does not show the resource as it is: it is being deleted,
// so that a child that is to be created again may have gone with it; or it was edited before
// the last write of the leader before this one, which the plan would undo. An event is on its
// way then. The API server is asked only if the plan depends on it.
func (t confirmer) isStale(ctx context.Context, p *plan.Plan) (bool, error) {
	mayBeOutdated := t.r.tookOver() && !t.memory.lives && !t.subject.isDeleting() && !p.Same()
	if !p.ConfirmAlive && !mayBeOutdated {
		return false, nil
	}
	err := t.askAlive(ctx)
	switch {
	case err == nil:
		return false, nil
	case apply.Classify(err).Cause == apply.Waits:
		return true, nil
	case mayBeOutdated:
		return false, err
	}
	t.countRefusal(err)
	t.found.add(status.Problem{Severity: status.Retry, Reason: api.ReasonApplyFailed, Message: err.Error()})
	t.retryLater()
	p.HoldBack()
	return false, nil
}

// sameAs reports whether nothing that templates see changed but the status.
func sameAs(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() && maps.Equal(a.GetLabels(), b.GetLabels()) &&
		maps.Equal(a.GetAnnotations(), b.GetAnnotations())
}

// recordListed notes that the API server was asked itself which children or patches there are:
// nothing that another operator wrote before is hidden any more.
func (r *Reconciler) recordListed(of unconfirmedWrite) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.confirmed[of] = true
}
