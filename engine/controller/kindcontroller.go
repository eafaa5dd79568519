package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A kindController is one kind at work: the cache of its resources, its queue and workers.
type kindController struct {
	o          *Operator
	name       string
	gvk        apischema.GroupVersionKind
	shard      shard.Shard
	crdUID     types.UID
	reconciler *reconcile.Reconciler
	versions   *kindVersions
	resources  portions
	queue      atomic.Pointer[queue]
	// forgets are kinds on record that nothing makes any more, and asksPassed resources of
	// other replicas that a rollout has passed.
	forgets, asksPassed asking
	deletions           storedDeletions
	// parallel is how many resources are tried at the same time.
	parallel int
	cancel   context.CancelFunc
	done     chan struct{}
	// caught is the part of the resources that is known, and since are the parts that were
	// served since then.
	caught replicas.Part
	since  []replicas.Part
	wants  atomic.Bool // whether children are watched, since it is known whose they are
	begun  atomic.Bool // whether resources and their children were known once
}

// want declares what all versions of a kind need watched, once it is known whose children
// there may be.
func (r *kindController) want() {
	if r.wants.Load() {
		versions := r.versions.listVersions()
		r.o.children.Want(r.name, versions.childKinds())
		r.o.reads.Want(r.name, versions.readScopes())
	}
}

// listed reports whether the resources are known that may be.
func (r *kindController) listed() bool { return r.resources.listed() }

// start starts the kind of a CRD.
func (o *Operator) start(ctx context.Context, gvk apischema.GroupVersionKind, crd *apiextensionsv1.CustomResourceDefinition,
	versions *kindVersions) error {
	name, mine := crd.Name, o.shardOf(crd)
	l, err := o.list(ctx, gvk, crd)
	if err != nil {
		return err
	}
	r := &kindController{o: o, name: name, gvk: gvk, shard: mine, crdUID: crd.UID, resources: l.resources, versions: versions,
		parallel: o.options.Workers, done: make(chan struct{})}
	cluster := o.cluster()
	cluster.Shard = mine
	r.reconciler = reconcile.New(name, gvk, l.resources, cluster)
	r.reconciler.Follow(versions.chooseVersion, versions.recordServed)
	versions.readMarks = r.readMarks
	if o.stoodBy.Load() && !o.dividesResources() {
		r.reconciler.TookOver(time.Unix(0, o.leadsSince.Load()))
	}
	c, err := o.controller(ctx, r)
	if err != nil {
		return fmt.Errorf("starting kind %s: %w", name, err)
	}
	ctx, r.cancel = context.WithCancel(ctx)
	o.mu.Lock()
	k := o.state(name)
	k.controller, k.wasServed = r, true
	o.mu.Unlock()
	r.reconciler.Begin()
	o.shareChanged()
	log.FromContext(ctx).Info("kind starts", "kind", name, "version", gvk.Version)
	go o.work(ctx, r, c)
	return nil
}

// cluster is what every kind needs of the cluster.
func (o *Operator) cluster() reconcile.Cluster {
	return reconcile.Cluster{
		Resource: o.resource, Writer: o.writer, Events: o.mgr.GetEventRecorder("jacquard"),
		ReadOnly: o.options.ReadOnly, AllEvents: o.options.AllEvents,
		Caches: observe.Caches{
			Children: o.children, Reads: o.reads, Served: o.served, DeclaresConditions: o.declaresConditions, Defined: o.defined,
			CRD: o.crd, Namespaces: o.options.Namespaces,
		},
	}
}

// asLongAsItTakes keeps a kind whose resources cannot be listed from ending: the
// cache tries again by itself.
const asLongAsItTakes = 10 * 365 * 24 * time.Hour

// controller makes the queue and workers of a kind.
func (o *Operator) controller(ctx context.Context, r *kindController) (controller.Controller, error) {
	c, err := controller.NewTypedUnmanaged(r.name, controller.TypedOptions[ctrl.Request]{
		Reconciler: gate{o, r}, MaxConcurrentReconciles: o.options.Workers,
		CacheSyncTimeout:   asLongAsItTakes,
		SkipNameValidation: ptr.To(true), Logger: o.mgr.GetLogger(), LogConstructor: o.logger(r.name),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](50*time.Millisecond, time.Minute),
		NewQueue:    o.queue,
	})
	if err != nil {
		return nil, err
	}
	err = c.Watch(feeding{"the queue itself", source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		mine := q.(queue)
		r.queue.Store(&mine)
		return nil
	})})
	came := changes(r.reconciler, func(uid types.UID) {
		o.children.Disown(uid)
		if r.versions.concernsResources() {
			o.names.Add(r.name)
		}
	})
	for _, p := range r.resources {
		of := strings.TrimSpace("resources " + p.namespace)
		err = errors.Join(err, c.Watch(&arrivals{of: p, kind: r.name, name: of, to: came}))
	}
	return c, err
}

// A feeding is what fills a queue, by a name for the log.
type feeding struct {
	name string
	source.Source
}

// String returns the name.
func (f feeding) String() string { return f.name }

// logger makes the log of a kind name it, and the resource that is served.
func (o *Operator) logger(kind string) func(*ctrl.Request) logr.Logger {
	l := o.mgr.GetLogger().WithValues("kind", kind)
	return func(req *ctrl.Request) logr.Logger {
		if req == nil {
			return l
		}
		return l.WithValues("namespace", req.Namespace, "name", req.Name)
	}
}

// queue is controller-runtime's own, but for its metrics, which stay when the
// kind goes.
func (o *Operator) queue(kind string, limiter workqueue.TypedRateLimiter[ctrl.Request]) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	return priorityqueue.New(kind, func(p *priorityqueue.Opts[ctrl.Request]) {
		p.RateLimiter, p.Log, p.MetricProvider = limiter, o.logger(kind)(nil), metrics.Queues{}
	})
}

// work runs a kind until it is stopped. Resources are served once it is known
// which children there are, or why that cannot be known.
func (o *Operator) work(ctx context.Context, r *kindController, c controller.Controller) {
	defer close(r.done)
	var beside sync.WaitGroup
	_ = until(ctx, func() bool { return !r.resources.lists() })
	r.wants.Store(true)
	r.want()
	o.countUnwatched(r)
	if until(ctx, r.listed) == nil && o.awaitChildren(ctx, r) == nil {
		r.begun.Store(true)
		o.names.Add(r.name) // whose rollout can advance now
		beside.Go(func() { o.resyncLoop(ctx, r) })
		if err := c.Start(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "kind ended", "kind", r.name)
		}
	}
	beside.Wait()
}

// awaitChildren returns when every kind of child has been listed or is in
// trouble, so that no status is written that only says "not known yet".
func (o *Operator) awaitChildren(ctx context.Context, r *kindController) error {
	return until(ctx, func() bool { return !r.versions.listVersions().isPending(o.cluster().Caches) })
}

// until waits until something is so.
func until(ctx context.Context, is func() bool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// resyncLoop lists the children of a kind every now and then, in case a watch
// has swallowed something.
func (o *Operator) resyncLoop(ctx context.Context, r *kindController) {
	for {
		every := r.versions.resyncInterval()
		timer := time.NewTimer(every - every/10 + rand.N(every/5))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		o.resync(ctx, r)
		o.mu.Lock()
		o.state(r.name).kept = nil // whether revisions are still stored is looked at again
		o.mu.Unlock()
		o.names.Add(r.name)
	}
}

// resync looks at all that a kind makes and reads. A panic ends the look at one
// kind of object.
func (o *Operator) resync(ctx context.Context, r *kindController) {
	look := func(doing string, at func() error) {
		if err := reconcile.Guard(r.name, doing, at); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "not looked at", "kind", r.name)
		}
	}
	for gvk := range r.versions.listVersions().childKinds() {
		look("looking at children of kind "+gvk.Kind, func() error { return o.children.Resync(ctx, gvk) })
	}
	for _, scope := range r.versions.listVersions().readScopes() {
		look("looking at what is read of kind "+scope.Kind, func() error { return o.reads.Resync(ctx, scope) })
	}
}

// stop ends a kind; its resources and their children stay as they are.
func (o *Operator) stop(name string) {
	o.stopWorkers(name)
	o.unlist(name)
	o.children.Want(name, nil)
	o.reads.Want(name, nil)
}

// stopWorkers ends what serves a kind. What is known of it stays known.
func (o *Operator) stopWorkers(name string) {
	o.mu.Lock()
	r := o.seen(name).controller
	if r != nil {
		o.state(name).controller = nil
	}
	o.mu.Unlock()
	if r == nil {
		return
	}
	r.stop()
	r.reconciler.End()
	o.mgr.GetLogger().Info("kind stops", "kind", name)
}

func (r *kindController) stop() {
	r.cancel()
	<-r.done
	metrics.Kind(r.name).End()
}
