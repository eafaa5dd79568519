package controller

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	o          *kindTable
	name       string
	gvk        apischema.GroupVersionKind
	shard      shard.Shard
	crdUID     types.UID
	reconciler *reconcile.Reconciler
	versions   *kindVersions
	resources  kindResources
	queue      atomic.Pointer[queue]
	// forgets are kinds on record that nothing makes any more, and asksPassed resources of
	// other replicas that a rollout has passed.
	forgets, asksPassed asking
	deletions           storedDeletions
	// parallel is how many resources are tried at the same time.
	parallel int
	// workers reconcile the resources while running is not done. running ends with stop.
	workers controller.Controller
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	// caught is the part of the resources that is known, and since are the parts that were
	// served since then.
	caught replicas.Part
	since  []replicas.Part
	wants  atomic.Bool // whether children are watched, since it is known whose they are
	begun  atomic.Bool // whether resources and their children were known once
}

// declareNeeds declares what all versions of a kind need watched, once it is known whose children
// there may be.
func (r *kindController) declareNeeds() {
	if r.wants.Load() {
		versions := r.versions.listVersions()
		r.o.children.Want(r.name, versions.childKinds())
		r.o.reads.Want(r.name, versions.readScopes())
	}
}

// hasListed reports whether the resources are known that may be.
func (r *kindController) hasListed() bool { return r.resources.listPlaces().areListed() }

// start starts the kind of a CRD.
func (k *kindRunner) start(ctx context.Context, gvk apischema.GroupVersionKind, crd *apiextensionsv1.CustomResourceDefinition,
	versions *kindVersions) error {
	name, mine := crd.Name, k.shardOf(crd)
	k.lists.startListing(gvk, crd)
	r := &kindController{o: k.kindTable, name: name, gvk: gvk, shard: mine, crdUID: crd.UID, resources: kindResources{k.resources, name},
		versions: versions, parallel: k.options.Workers}
	cluster := k.newCluster()
	cluster.Shard = mine
	r.reconciler = reconcile.New(name, gvk, r.resources, cluster)
	r.reconciler.Follow(versions.chooseVersion, versions.recordServed)
	versions.readMarks = r.readMarks
	if k.membership.stoodBy.Load() && !k.dividesResources() {
		r.reconciler.TookOver(time.Unix(0, k.membership.leadsSince.Load()))
	}
	var err error
	if r.workers, err = k.newController(r); err != nil {
		return fmt.Errorf("starting kind %s: %w", name, err)
	}
	r.ctx, r.stop = context.WithCancel(ctx)
	k.mu.Lock()
	state := k.stateOf(name)
	state.controller, state.wasServed = r, true
	k.mu.Unlock()
	r.reconciler.Begin()
	k.divided.Notify()
	log.FromContext(ctx).Info("kind starts", "kind", name, "version", gvk.Version)
	return nil
}

// newCluster is what every kind needs of the cluster.
func (k *kindRunner) newCluster() reconcile.Cluster {
	return reconcile.Cluster{
		Resource: k.apis.findResource, Writer: k.writer, Events: k.mgr.GetEventRecorder("jacquard"),
		ReadOnly: k.options.ReadOnly, AllEvents: k.options.AllEvents,
		Caches: observe.Caches{
			Children: k.children, Reads: k.reads, Served: k.apis.servedKinds,
			DeclaresConditions: k.apis.declaresConditions, Defined: k.apis.isDefined,
			CRD: k.latestCRD, Namespaces: k.options.Namespaces,
		},
	}
}

// asLongAsItTakes keeps a kind whose resources cannot be listed from ending: the
// cache tries again by itself.
const asLongAsItTakes = 10 * 365 * 24 * time.Hour

// newController makes the queue and workers of a kind.
func (k *kindRunner) newController(r *kindController) (controller.Controller, error) {
	c, err := controller.NewTypedUnmanaged(r.name, controller.TypedOptions[ctrl.Request]{
		Reconciler: gate{k.kindTable, r}, MaxConcurrentReconciles: k.options.Workers,
		CacheSyncTimeout:   asLongAsItTakes,
		SkipNameValidation: ptr.To(true), Logger: k.mgr.GetLogger(), LogConstructor: k.newLogger(r.name),
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](50*time.Millisecond, time.Minute),
		NewQueue:    k.newQueue,
	})
	if err != nil {
		return nil, err
	}
	return c, c.Watch(feeding{"resources", source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		r.takeFirst(q.(queue))
		return nil
	})})
}

// A feeding is what fills a queue, by a name for the log.
type feeding struct {
	name string
	source.Source
}

// String returns the name.
func (f feeding) String() string { return f.name }

// newLogger makes the log of a kind name it, and the resource that is served.
func (k *kindRunner) newLogger(kind string) func(*ctrl.Request) logr.Logger {
	l := k.mgr.GetLogger().WithValues("kind", kind)
	return func(req *ctrl.Request) logr.Logger {
		if req == nil {
			return l
		}
		return l.WithValues("namespace", req.Namespace, "name", req.Name)
	}
}

// newQueue is controller-runtime's own, but for its metrics, which stay when the
// kind goes.
func (k *kindRunner) newQueue(kind string, limiter workqueue.TypedRateLimiter[ctrl.Request],
) workqueue.TypedRateLimitingInterface[ctrl.Request] {
	return priorityqueue.New(kind, func(p *priorityqueue.Opts[ctrl.Request]) {
		p.RateLimiter, p.Log, p.MetricProvider = limiter, k.newLogger(kind)(nil), metrics.Queues{}
	})
}

// startTick is how often a kind that starts is looked at without an event: what has been refused for
// long enough counts as known.
const startTick = time.Second

// beginServing takes a kind that has started as far as can be now: its children are watched once it
// is known whose they may be, and its resources are reconciled once all children have been listed,
// or cannot be, so that no status only says "not known yet". It returns when to look again without
// an event; 0 means never.
func (k *kindRunner) beginServing(r *kindController) time.Duration {
	if r.begun.Load() {
		return 0
	}
	if !r.wants.Load() && !r.resources.listPlaces().areListing() {
		r.wants.Store(true)
		r.declareNeeds()
	}
	switch {
	case r.wants.Load() && r.hasListed() && !r.versions.listVersions().isPending(k.newCluster().Caches):
	case r.resources.listPlaces().areUndecided():
		return startTick
	default:
		return 0 // an event leads back here
	}
	r.begun.Store(true)
	k.names.Add(r.name) // its rollout can advance now
	r.running.Go(func() { k.resyncLoop(r.ctx, r) })
	r.running.Go(func() {
		if err := r.workers.Start(r.ctx); err != nil && r.ctx.Err() == nil {
			log.FromContext(r.ctx).Error(err, "kind ended", "kind", r.name)
		}
	})
	return 0
}

// resyncLoop lists the children of a kind every now and then, in case a watch
// has swallowed something.
func (k *kindRunner) resyncLoop(ctx context.Context, r *kindController) {
	for {
		every := r.versions.resyncInterval()
		timer := time.NewTimer(every - every/10 + rand.N(every/5))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		k.resyncKind(ctx, r)
		k.mu.Lock()
		k.stateOf(r.name).kept = nil // whether revisions are still stored is looked at again
		k.mu.Unlock()
		k.names.Add(r.name)
	}
}

// resyncKind looks at all that a kind makes and reads. A panic ends the look at one
// kind of object.
func (k *kindRunner) resyncKind(ctx context.Context, r *kindController) {
	look := func(doing string, at func() error) {
		if err := reconcile.Guard(r.name, doing, at); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "not looked at", "kind", r.name)
		}
	}
	for gvk := range r.versions.listVersions().childKinds() {
		look("looking at children of kind "+gvk.Kind, func() error { return k.children.Resync(ctx, gvk) })
	}
	for scope := range r.versions.listVersions().readScopes() {
		look("looking at what is read of kind "+scope.Kind, func() error { return k.reads.Resync(ctx, scope) })
	}
}

// stop ends a kind; its resources and their children stay as they are.
func (k *kindRunner) stop(name string) {
	k.stopWorkers(name)
	k.lists.stopListing(name)
	k.children.Want(name, nil)
	k.reads.Want(name, nil)
}

// stopWorkers ends what serves a kind. What is known of it stays known.
func (k *kindRunner) stopWorkers(name string) {
	k.mu.Lock()
	r := k.readState(name).controller
	if r != nil {
		k.stateOf(name).controller = nil
	}
	k.mu.Unlock()
	if r == nil {
		return
	}
	r.endWorkers()
	r.reconciler.End()
	k.mgr.GetLogger().Info("kind stops", "kind", name)
}

// endWorkers ends what serves the kind, and returns once it has ended.
func (r *kindController) endWorkers() {
	r.stop()
	r.running.Wait()
	metrics.Kind(r.name).End()
}

// stopUnserved stops a kind that this installation no longer serves, and returns it to the other
// replicas.
func (k *kindRunner) stopUnserved(name string) {
	k.stop(name)
	if k.dividesResources() && k.isLeading() {
		k.membership.member.SetExclusive(name, false)
	}
}

// stopOutdated stops a kind whose CRD is another one, or which is served in another version of it,
// and returns what is left to serve it, or nil.
func (k *kindRunner) stopOutdated(p *kindPass, gvk apischema.GroupVersionKind) *kindController {
	if r := p.running; r != nil && (r.crdUID != p.definition.UID || r.gvk != gvk) {
		k.stop(p.name)
		return nil
	}
	return p.running
}
