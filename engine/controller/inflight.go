package controller

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/locks"
)

// drainTimeout bounds how long a running reconcile may continue after its resource moved to
// another replica.
const drainTimeout = time.Second

// inFlight tracks the running reconciles. A reconcile may only start for a resource in the current
// share. The zero value serves nothing.
type inFlight struct {
	// current is what is served. It changes while mu is held.
	current atomic.Pointer[versionedShare]

	mu      locks.Mutex
	running map[*reconcileSlot]struct{}
	// drained is called when a reconcile has ended whose resource has left the share.
	drained func()
}

// A versionedShare is a share with the number of changes that led to it.
type versionedShare struct {
	share   replicas.Share
	version int
}

// A reconcileSlot is one running reconcile of a resource.
type reconcileSlot struct {
	kind string
	uid  types.UID
	stop context.CancelFunc
}

func (s *reconcileSlot) isIn(share replicas.Share) bool { return share.Serves(s.kind, s.uid) }

// currentShare returns what is served.
func (f *inFlight) currentShare() replicas.Share {
	share, _ := f.shareVersion()
	return share
}

// shareVersion returns what is served, and how often that has changed.
func (f *inFlight) shareVersion() (replicas.Share, int) {
	if s := f.current.Load(); s != nil {
		return s.share, s.version
	}
	return replicas.Share{}, 0
}

// setShare replaces what is served. Running reconciles of anything else end soon.
func (f *inFlight) setShare(share replicas.Share) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, version := f.shareVersion()
	f.current.Store(&versionedShare{share, version + 1})
	for s := range f.running {
		if !s.isIn(share) {
			time.AfterFunc(drainTimeout, s.stop)
		}
	}
}

// isDrained reports whether all running reconciles are of resources in the share.
func (f *inFlight) isDrained() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	share := f.currentShare()
	for s := range f.running {
		if !s.isIn(share) {
			return false
		}
	}
	return true
}

// beginReconcile begins a reconcile, unless its resource is not in the share. If ok is true, end must be
// called.
func (f *inFlight) beginReconcile(ctx context.Context, kind string, uid types.UID) (_ context.Context, end func(), ok bool) {
	slot := &reconcileSlot{kind: kind, uid: uid}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slot.isIn(f.currentShare()) {
		return ctx, nil, false
	}
	ctx, slot.stop = context.WithCancel(ctx)
	if f.running == nil {
		f.running = map[*reconcileSlot]struct{}{}
	}
	f.running[slot] = struct{}{}
	return ctx, func() { f.endReconcile(slot) }, true
}

func (f *inFlight) endReconcile(slot *reconcileSlot) {
	slot.stop()
	f.mu.Lock()
	delete(f.running, slot)
	f.mu.Unlock()
	if !slot.isIn(f.currentShare()) && f.drained != nil {
		f.drained()
	}
}

// A gate lets the resources of a kind be reconciled while they are in the share.
type gate struct {
	o *kindTable
	r *kindController
}

// Reconcile implements [ctrl.Reconciler]. Resources outside the share are skipped. They are
// enqueued again when the share changes.
func (g gate) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	resource, err := g.r.resources.findResource(req.NamespacedName)
	if resource == nil || err != nil { // it is forgotten, or asked for again
		return g.r.reconciler.Reconcile(ctx, req)
	}
	ctx, end, ok := g.o.inFlight.beginReconcile(ctx, g.r.name, resource.GetUID())
	if !ok {
		g.r.reconciler.ForgetEvent(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	defer end()
	if !g.r.isKnown(resource.GetUID()) { // which no longer changes: the resource stays in the share until end
		g.r.reconciler.ForgetEvent(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	return g.r.reconciler.Reconcile(ctx, req)
}
