package operator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/share"
)

// A run is one kind at work: the cache of its resources, its queue and workers.
type run struct {
	name       string
	gvk        apischema.GroupVersionKind
	share      share.Share
	crdUID     types.UID
	reconciler *reconcile.Reconciler
	course     *course
	informer   cache.Informer
	resources  cache.Cache
	queue      atomic.Pointer[queue]
	cancel     context.CancelFunc
	done       chan struct{}
}

// listed says whether the resources are known.
func (r *run) listed() bool { return r.informer.HasSynced() }

// start starts the kind of a CRD.
func (o *Operator) start(ctx context.Context, gvk apischema.GroupVersionKind, crd *apiextensionsv1.CustomResourceDefinition, course *course) error {
	name, mine := crd.Name, o.share(crd)
	l, err := o.list(ctx, gvk, crd)
	if err != nil {
		return err
	}
	r := &run{name: name, gvk: gvk, share: mine, crdUID: crd.UID, resources: l.resources, informer: l.informer, course: course, done: make(chan struct{})}
	cluster := o.cluster()
	cluster.Share = mine
	r.reconciler = reconcile.New(name, gvk, l.resources, cluster)
	r.reconciler.Follow(course.choose, course.served)
	if o.stoodBy.Load() {
		r.reconciler.Inherit(time.Unix(0, o.leadsSince.Load()))
	}
	c, err := o.controller(ctx, r)
	if err != nil {
		return fmt.Errorf("starting kind %s: %w", name, err)
	}
	ctx, r.cancel = context.WithCancel(ctx)
	o.mu.Lock()
	o.runs[name] = r
	o.mu.Unlock()
	r.reconciler.Begin()
	log.FromContext(ctx).Info("kind starts", "kind", name, "version", gvk.Version)
	go o.work(ctx, r, c)
	return nil
}

// cluster is what every kind needs of the cluster.
func (o *Operator) cluster() reconcile.Cluster {
	return reconcile.Cluster{
		Children: o.children, Reads: o.reads, Served: o.served, Resource: o.resource, Writer: o.writer,
		Events: o.mgr.GetEventRecorder("jacquard"), DeclaresConditions: o.declaresConditions, Defined: o.defined, CRD: o.crd,
		ReadOnly: o.options.ReadOnly,
	}
}

// asLongAsItTakes keeps a kind whose resources cannot be listed from ending: the
// cache tries again by itself.
const asLongAsItTakes = 10 * 365 * 24 * time.Hour

// controller makes the queue and workers of a kind.
func (o *Operator) controller(ctx context.Context, r *run) (controller.Controller, error) {
	c, err := controller.NewTypedUnmanaged(r.name, controller.TypedOptions[ctrl.Request]{
		Reconciler: r.reconciler, MaxConcurrentReconciles: o.options.Workers,
		CacheSyncTimeout:   asLongAsItTakes,
		SkipNameValidation: ptr.To(true), Logger: o.mgr.GetLogger(), LogConstructor: o.logger(r.name),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](50*time.Millisecond, time.Minute),
		NewQueue:    o.queue,
	})
	if err != nil {
		return nil, err
	}
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(r.gvk)
	return c, errors.Join(
		c.Watch(source.Kind[client.Object](r.resources, resource, changes(r.reconciler, r.course.poke))),
		c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
			mine := q.(queue)
			r.queue.Store(&mine)
			return nil
		})),
	)
}

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
func (o *Operator) work(ctx context.Context, r *run, c controller.Controller) {
	defer close(r.done)
	var beside sync.WaitGroup
	o.countForbidden(r)
	if o.awaitChildren(ctx, r) == nil && o.awaitTrial(ctx, r) == nil {
		beside.Go(func() { o.lookAround(ctx, r) })
		beside.Go(func() { o.roll(ctx, r) })
		if err := c.Start(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "kind ended", "kind", r.name)
		}
	}
	beside.Wait()
}

// awaitChildren returns when every kind of child has been listed or is in
// trouble, so that no status is written that only says "not known yet".
func (o *Operator) awaitChildren(ctx context.Context, r *run) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if !r.course.pending(o.cluster()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// awaitTrial returns when a version that this operator began with has been
// tried on all resources: before that nobody knows which are to be held.
func (o *Operator) awaitTrial(ctx context.Context, r *run) error {
	for {
		next, tried := r.course.coming()
		if next == nil || tried || !next.Pending(o.cluster()) && o.begin(ctx, r, next) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// lookAround lists the children of a kind every now and then, in case a watch
// has swallowed something.
func (o *Operator) lookAround(ctx context.Context, r *run) {
	for {
		every := r.course.lookAgain()
		timer := time.NewTimer(every - every/10 + rand.N(every/5))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		for gvk := range r.course.children() {
			if err := o.children.Look(ctx, gvk); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "children not looked at", "kind", r.name)
			}
		}
		for _, scope := range r.course.scopes() {
			if err := o.reads.Look(ctx, scope); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "what is read not looked at", "kind", r.name)
			}
		}
	}
}

// stop ends a kind; its resources and their children stay as they are.
func (o *Operator) stop(name string) {
	o.mu.Lock()
	r := o.runs[name]
	delete(o.runs, name)
	o.mu.Unlock()
	if r != nil {
		r.stop()
	}
	o.unlist(name)
	o.children.Want(name, nil)
	o.reads.Want(name, nil)
	if r == nil {
		return
	}
	r.reconciler.End()
	o.mgr.GetLogger().Info("kind stops", "kind", name)
}

func (r *run) stop() {
	r.cancel()
	<-r.done
	metrics.Kind(r.name).End()
}
