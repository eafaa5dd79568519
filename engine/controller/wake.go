package controller

import (
	"context"
	"maps"
	"slices"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// gather is how long changes of children and of statuses are gathered before
// the resource is looked at: a child that changes all the time costs few looks.
const gather = 100 * time.Millisecond

// A queue is the resources of a kind that wait to be served.
type queue = priorityqueue.PriorityQueue[ctrl.Request]

// newEventHandler returns a handler that enqueues a resource that changed: at once, unless only its
// status did. The reconciler observes every version of it, and that it is gone. Then gone is called
// too.
func newEventHandler(to *reconcile.Reconciler, gone func(types.UID)) handler.EventHandler {
	type adder = workqueue.TypedRateLimitingInterface[ctrl.Request]
	request := func(o client.Object) ctrl.Request {
		name := client.ObjectKeyFromObject(o)
		to.NoteEvent(name)
		return ctrl.Request{NamespacedName: name}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q adder) {
			to.ObserveDeletion(e.Object)
			if !e.IsInInitialList {
				to.Arrived(e.Object)
			}
			priority := 0
			if e.IsInInitialList && isStatusCurrent(e.Object) {
				priority = handler.LowPriority
			}
			q.(queue).AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, request(e.Object))
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q adder) {
			to.Gone(e.Object)
			q.Add(request(e.Object))
			gone(e.Object.GetUID())
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q adder) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() { // a list shows another one of this name
				to.Gone(e.ObjectOld)
				to.Arrived(e.ObjectNew)
				gone(e.ObjectOld.GetUID())
			}
			to.ObserveDeletion(e.ObjectNew)
			if onlyStatus(e.ObjectOld, e.ObjectNew) {
				q.AddAfter(request(e.ObjectNew), gather)
			} else {
				q.Add(request(e.ObjectNew))
			}
		},
	}
}

// isStatusCurrent reports whether a resource's status is about its present generation. Most likely
// there is nothing to do for it, so after a start it comes after the resources for which there is.
func isStatusCurrent(o client.Object) bool {
	packed, ok := o.(*live.Packed)
	if !ok || packed.DeletionTimestamp != nil {
		return false
	}
	resource, err := packed.Unpack()
	if err != nil {
		return false
	}
	ready, seen := status.ReadyOf(resource)
	return seen && ready.Observed == resource.GetGeneration()
}

// onlyStatus reports whether nothing changed that a person writes.
func onlyStatus(a, b client.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetGeneration() == b.GetGeneration() &&
		a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations())
}

// add puts a resource in the queue.
func (r *kindController) add(namespace, name string) { r.addAfter(namespace, name, 0) }

// addAfter puts a resource in the queue after a while. What is added meanwhile
// becomes one with it.
func (r *kindController) addAfter(namespace, name string, after time.Duration) {
	if q := r.queue.Load(); q != nil {
		req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
		r.reconciler.NoteEvent(req.NamespacedName)
		(*q).AddAfter(req, after)
	}
}

// enqueueAll puts every resource of the kind in the queue, after those that an
// event woke.
func (r *kindController) enqueueAll() {
	q := r.queue.Load()
	if q == nil {
		return // the first list puts them all in
	}
	for _, o := range r.resources.listKnown() {
		req := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(o)}
		r.reconciler.NoteEvent(req.NamespacedName)
		(*q).AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, req)
	}
}

// childChanged wakes the owner of a child: the one that its annotation names, if
// there is one of this name, or else the one whose uid it wears. The uid does not
// decide, since a restored child wears an old one; and anybody may write an
// annotation, also one that names what is served elsewhere.
func (w *wakeUps) childChanged(of api.Owner, uid types.UID) {
	if of == (api.Owner{}) {
		for _, r := range w.runningKinds() {
			if name, found := r.reconciler.Find(uid); found {
				r.addAfter(name.Namespace, name.Name, gather)
			}
		}
		return
	}
	if r := w.kindController(of.Kind); r != nil && r.has(types.NamespacedName{Namespace: of.Namespace, Name: of.Name}) {
		r.addAfter(of.Namespace, of.Name, gather)
	}
}

// kindSynced wakes everybody who has children of a kind.
func (w *wakeUps) kindSynced(gvk apischema.GroupVersionKind) {
	w.divided.Notify()
	for _, r := range w.runningKinds() {
		if _, has := r.versions.listVersions().childKinds()[gvk]; has {
			r.enqueueAll()
			w.names.Add(r.name) // whose pass counts what cannot be watched, and advances a rollout
		}
	}
}

// readChanged wakes a resource whose templates read what changed.
func (w *wakeUps) readChanged(reader api.Owner) {
	if r := w.kindController(reader.Kind); r != nil {
		r.addAfter(reader.Namespace, reader.Name, gather)
	}
}

// patchChanged wakes the resource that patched what changed.
func (w *wakeUps) patchChanged(uid types.UID) {
	for _, r := range w.runningKinds() {
		if name, found := r.reconciler.Find(uid); found {
			r.addAfter(name.Namespace, name.Name, gather)
		}
	}
}

// scopeSynced wakes everybody who may have patched objects of a scope.
func (w *wakeUps) scopeSynced(scope cluster.Scope) {
	for _, r := range w.runningKinds() {
		if slices.Contains(r.versions.listVersions().readScopes(), scope) {
			r.enqueueAll()
			w.names.Add(r.name) // whose pass counts what cannot be watched, and advances a rollout
		}
	}
}

// trimEvery is how often what nobody reads any more is forgotten, and strangers
// are counted.
const trimEvery = time.Minute

func (w *wakeUps) trimReads(ctx context.Context) error {
	wait.UntilWithContext(ctx, func(context.Context) {
		_ = reconcile.Guard("", "trimming what is read", func() error {
			w.reads.Trim()
			metrics.Strangers(w.children.Strangers())
			return nil
		})
	}, trimEvery)
	return nil
}

// watchPanicked notes a panic of a watch for each kind that needs it.
func watchPanicked(holders []string, err error) {
	if len(holders) == 0 {
		holders = []string{""}
	}
	for _, kind := range holders {
		reconcile.NotePanic(kind, err)
	}
}

// isOwnerKnown reports whether a resource is among those that are served here: the one of
// this name with this uid, or one of this uid that was served already.
func (w *wakeUps) isOwnerKnown(of api.Owner, uid types.UID) bool {
	w.mu.Lock()
	l := w.readState(of.Kind).cache
	w.mu.Unlock()
	if l != nil {
		resource, err := l.resources.findResource(types.NamespacedName{Namespace: of.Namespace, Name: of.Name})
		if err == nil && resource != nil && resource.UID == uid {
			return true
		}
	}
	for _, r := range w.runningKinds() {
		if _, found := r.reconciler.Find(uid); found {
			return true
		}
	}
	return false
}
