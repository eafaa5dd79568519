package controller

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// drainLimit is how long a reconciliation may go on whose resource another replica is to
// serve, before its context ends.
const drainLimit = time.Second

// turns are the reconciliations that are under way, and what this process serves. No turn
// begins for a resource that is not served. The zero value serves nothing.
type turns struct {
	mu    sync.Mutex
	share replicas.Share
	// changes counts how often something else was served than before.
	changes int
	// under are those that are under way.
	under map[*turn]struct{}
	// ended is called when a turn of what is not served any more has ended.
	ended func()
}

// A turn is one reconciliation of a resource.
type turn struct {
	kind string
	of   metav1.Object
	stop context.CancelFunc
}

func (t *turn) in(s replicas.Share) bool { return s.Serves(t.kind, t.of) }

// now is what is served.
func (t *turns) now() replicas.Share {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.share
}

// at is what is served, and how often that has changed.
func (t *turns) at() (replicas.Share, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.share, t.changes
}

// serve serves another share from now on. What is under way of anything else is to end
// soon.
func (t *turns) serve(share replicas.Share) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.share, t.changes = share, t.changes+1
	for one := range t.under {
		if !one.in(share) {
			time.AfterFunc(drainLimit, one.stop)
		}
	}
}

// drained reports whether nothing is under way that is not served.
func (t *turns) drained() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for one := range t.under {
		if !one.in(t.share) {
			return false
		}
	}
	return true
}

// begin begins a turn, unless its resource is not served; end must follow.
func (t *turns) begin(ctx context.Context, one turn) (of context.Context, end func(), begun bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !one.in(t.share) {
		return ctx, nil, false
	}
	of, one.stop = context.WithCancel(ctx)
	if t.under == nil {
		t.under = map[*turn]struct{}{}
	}
	t.under[&one] = struct{}{}
	return of, func() { t.end(&one) }, true
}

func (t *turns) end(one *turn) {
	one.stop()
	t.mu.Lock()
	delete(t.under, one)
	late := !one.in(t.share)
	t.mu.Unlock()
	if late && t.ended != nil {
		t.ended()
	}
}

// A gate lets a kind's resources be reconciled while this process serves them.
type gate struct {
	o *Operator
	r *kindController
}

// Reconcile implements [ctrl.Reconciler]. What is not served is left; it is looked at when
// it is.
func (g gate) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	resource, err := g.r.resources.find(req.NamespacedName)
	if resource == nil || err != nil { // it is forgotten, or asked for again
		return g.r.reconciler.Reconcile(ctx, req)
	}
	if !g.r.served(resource) {
		g.r.reconciler.ForgetEvent(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	ctx, end, begun := g.o.turns.begin(ctx, turn{kind: g.r.name, of: resource})
	if !begun {
		g.r.reconciler.ForgetEvent(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	defer end()
	return g.r.reconciler.Reconcile(ctx, req)
}
