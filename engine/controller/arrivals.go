package controller

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// arrivals feed a queue with the resources of a portion. Workers begin once all
// that were listed at first are in the queue, since only then their order tells:
// what changed while no operator ran comes first. Where there are several
// portions none waits for another.
type arrivals struct {
	of   *portion
	kind string
	name string
	to   handler.EventHandler
}

// String returns the name, for the log.
func (a *arrivals) String() string { return a.name }

// Start begins to feed a queue.
func (a *arrivals) Start(ctx context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	a.of.setFollower(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, initially bool) {
			if came, ok := o.(client.Object); ok {
				a.deliverSafely(came, q, func() { a.to.Create(ctx, event.CreateEvent{Object: came, IsInInitialList: initially}, q) })
			}
		},
		UpdateFunc: func(from, to any) {
			before, ok := from.(client.Object)
			after, too := to.(client.Object)
			if ok && too {
				a.deliverSafely(after, q, func() { a.to.Update(ctx, event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q) })
			}
		},
		DeleteFunc: func(o any) {
			if last, missed := o.(toolscache.DeletedFinalStateUnknown); missed {
				o = last.Obj
			}
			if went, ok := o.(client.Object); ok {
				a.deliverSafely(went, q, func() { a.to.Delete(ctx, event.DeleteEvent{Object: went}, q) })
			}
		},
	})
	return nil
}

// deliverSafely takes a change of a resource. After a panic it is looked at all the same.
func (a *arrivals) deliverSafely(o client.Object, q workqueue.TypedRateLimitingInterface[ctrl.Request], deliver func()) {
	if err := reconcile.Guard(a.kind, "taking a change of a resource", func() error { deliver(); return nil }); err != nil {
		q.Add(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(o)})
	}
}

// WaitForSync waits until what was listed at first is in the queue.
func (a *arrivals) WaitForSync(ctx context.Context) error {
	if a.of.namespace != "" {
		return nil
	}
	select {
	case <-a.of.firstList():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
