package controller

import (
	"context"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
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

// takeFirst begins to feed a queue, with all that is known. Workers begin once that is in the queue,
// since only then its order tells: what changed while no operator ran comes first.
func (r *kindController) takeFirst(q queue) {
	r.queue.Store(&q)
	for _, known := range r.resources.listKnown() {
		o, found, err := r.resources.cache.Find(r.name, types.NamespacedName{Namespace: known.GetNamespace(), Name: known.GetName()})
		if found && err == nil {
			r.takeChange(cluster.Change{After: o, IsFirst: true})
		}
	}
}

// takeChange takes a change of a resource. After a panic the resource is looked at all the same.
func (r *kindController) takeChange(c cluster.Change) {
	q := r.queue.Load()
	if q == nil {
		return // takeFirst takes it
	}
	if err := reconcile.Guard(r.name, "taking a change of a resource", func() error { r.enqueueChanged(*q, c); return nil }); err != nil {
		(*q).Add(ctrl.Request{NamespacedName: c.Key()})
	}
}

// enqueueChanged enqueues a resource that changed: at once, unless only its status did. The
// reconciler observes every version of it, and that it is gone.
func (r *kindController) enqueueChanged(q queue, c cluster.Change) {
	req, before, after := ctrl.Request{NamespacedName: c.Key()}, c.Before.Meta, c.After.Meta
	isNew := before == nil || after != nil && before.GetUID() != after.GetUID()
	if before != nil && (after == nil || isNew) {
		r.reconciler.Gone(before)
		r.forgetResource(before.GetUID())
	}
	if after != nil {
		r.reconciler.ObserveDeletion(after)
		if isNew && !c.IsFirst {
			r.reconciler.Arrived(after)
		}
	}
	r.reconciler.NoteEvent(req.NamespacedName)
	switch {
	case c.IsFirst && isStatusCurrent(c.After):
		q.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, req)
	case after != nil && !isNew && isStatusAlone(before, after):
		q.AddAfter(req, gather)
	default:
		q.Add(req)
	}
}

// forgetResource forgets a resource that is gone.
func (r *kindController) forgetResource(uid types.UID) {
	r.o.children.Disown(uid)
	if r.versions.concernsResources() {
		r.o.names.Add(r.name)
	}
}

// isStatusCurrent reports whether a resource's status is about its present generation. Most likely
// there is nothing to do for it, so after a start it comes after the resources for which there is.
func isStatusCurrent(o live.Object) bool {
	if o.Meta.GetDeletionTimestamp() != nil {
		return false
	}
	resource, err := o.Unpack()
	if err != nil {
		return false
	}
	ready, seen := status.ReadyOf(resource)
	return seen && ready.Observed == resource.GetGeneration()
}

// isStatusAlone reports whether nothing changed of a resource that a person writes.
func isStatusAlone(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() && a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
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
		return // takeFirst puts them all in
	}
	for _, o := range r.resources.listKnown() {
		req := ctrl.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}
		r.reconciler.NoteEvent(req.NamespacedName)
		(*q).AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, req)
	}
}

// resourceChanged passes on how a resource changed, if its kind is at work.
func (w *wakeUps) resourceChanged(kind string, c cluster.Change) {
	if r := w.kindController(kind); r != nil {
		r.takeChange(c)
	}
}

// resourcesSynced has a kind looked at whose resources were listed.
func (w *wakeUps) resourcesSynced(kind string) {
	w.names.Add(kind)
	w.divided.Notify()
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
		if _, reads := r.versions.listVersions().readScopes()[scope]; reads {
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
	resource, found, err := w.resources.Find(of.Kind, types.NamespacedName{Namespace: of.Namespace, Name: of.Name})
	if err == nil && found && resource.Meta.GetUID() == uid {
		return true
	}
	for _, r := range w.runningKinds() {
		if _, found := r.reconciler.Find(uid); found {
			return true
		}
	}
	return false
}
