package reconcile

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// Cluster is what a Reconciler needs of the cluster.
type Cluster struct {
	observe.Caches
	// Resource is how the cluster serves the kind itself, also while its CRD
	// goes.
	Resource func(schema.GroupVersionKind) (live.Resource, bool)
	Writer   *apply.Writer
	Events   events.EventRecorder
	// ReadOnly: everything is looked at and planned, and nothing is written. The
	// Writer refuses it too.
	ReadOnly bool
	// AllEvents: the way of a resource to Ready is told by events too.
	AllEvents bool
}

// Resources are the custom resources of a kind, as far as they are known.
type Resources interface {
	Get(ctx context.Context, name client.ObjectKey, into client.Object, opts ...client.GetOption) error
}

// A Reconciler serves the custom resources of one kind.
type Reconciler struct {
	name      string
	gvk       schema.GroupVersionKind
	resources Resources
	cluster   Cluster
	now       func() time.Time
	choose    func(*unstructured.Unstructured) Choice
	served    func(*unstructured.Unstructured, Outcome)

	eventTimes
	pendingResources
	inFlight

	mu        sync.Mutex
	memories  map[types.NamespacedName]*Memory
	names     map[types.UID]types.NamespacedName       // of what is in memory
	deletions map[types.UID]metav1.DeletionPropagation // how resources are being deleted, where it was seen
	// leadsSince is when this operator took over from another one, or zero.
	leadsSince time.Time
	// ticks orders what happened in this process: tookOver is the tick of the take-over, or 0;
	// arrivals are those of resources that another operator had served; listedAt are those of
	// lists that were sent to the API server besides the watches.
	ticks    atomic.Uint64
	tookOver uint64
	arrivals map[types.UID]uint64
	listedAt map[plan.List]uint64
	// latest is the greatest resourceVersion of the resources that were reconciled.
	latest string
	// takeOver guards collectionVersion, which is a resourceVersion that the collection of the
	// resources had after the take-over. It is empty until it is asked for, which is next tried
	// at nextTry.
	takeOver          sync.Mutex
	collectionVersion string
	nextTry           time.Time
}

// New returns a Reconciler for the kind named name; resources reads its custom
// resources, of kind gvk, from a cache. Follow must be called before it serves
// any.
func New(name string, gvk schema.GroupVersionKind, resources Resources, c Cluster) *Reconciler {
	return &Reconciler{
		name: name, gvk: gvk, resources: resources, cluster: c, now: time.Now,
		memories: map[types.NamespacedName]*Memory{}, names: map[types.UID]types.NamespacedName{},
		deletions: map[types.UID]metav1.DeletionPropagation{},
		arrivals:  map[types.UID]uint64{},
		listedAt:  map[plan.List]uint64{},

		pendingResources: pendingResources{kind: name, isReadOnly: c.ReadOnly},
	}
}

// renderLimit bounds how long the templates of one resource may run.
const renderLimit = 10 * time.Second

// Reconcile brings the children of one custom resource into their desired state, and reports
// the outcome in its status.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	defer r.beginReconciliation(r.Tick())()
	since := r.takeEventTime(req.NamespacedName)
	resource, memory, err := r.getResource(ctx, req.NamespacedName)
	if resource == nil || err != nil {
		countResult(r.name, err)
		return reconcile.Result{}, err
	}
	choice := r.choose(resource)
	if choice.Undecided {
		return reconcile.Result{}, nil
	}
	t := r.newReconciliation(resource, choice, memory)
	result, err := t.run(ctx)
	NotePanic(r.name, err)
	t.countReconciliation(req.NamespacedName, since, err)
	return result, err
}

// newReconciliation begins a reconciliation.
func (r *Reconciler) newReconciliation(resource *unstructured.Unstructured, choice Choice, memory *Memory) *reconciliation {
	p := &pass{
		r: r, choice: choice, memory: memory, texts: observe.NewTexts(memory.drawn), written: memory.writes,
		subject: &observe.Subject{Name: r.name, GVK: r.gvk, Caches: &r.cluster.Caches, Version: choice.Version, Resource: resource},
	}
	return &reconciliation{pass: p, confirmer: confirmer{p}, renderer: renderer{p}, learner: learner{p},
		publisher: publisher{judge{p}}}
}

// run reconciles the resource. A panic becomes the error of this reconciliation.
func (t *reconciliation) run(ctx context.Context) (result reconcile.Result, err error) {
	defer panics.Catch(&err, "serving a "+t.r.gvk.Kind)

	// 1. Observe what the caches contain. What has not been listed yet enqueues the resource
	// when it has.
	view := observe.Take(t.subject, t.texts, t.judgeChild)
	if view.Pending {
		t.pending = true
		return reconcile.Result{}, nil
	}
	t.view = view
	t.inheritOverridden()
	t.inheritHealth(view)
	t.memory.forgetFailures(t.subject.Resource.GetAnnotations()[api.AnnotationReconcileAt])

	// 2. Render, unless nothing may be changed. A deletion never depends on templates.
	var rendered *render.Result
	if !t.subject.IsPaused() {
		rendered = t.renderChildren(ctx, view)
	}

	// 3. Plan: all decisions are made here. What was planned from too little is planned again once
	// an event has told the rest.
	p := t.makePlan(rendered, view)
	if view.Pending {
		p = t.makePlan(nil, view)
	}

	if t.r.cluster.ReadOnly {
		return t.announcePlanned(ctx, p), nil
	}

	// 4. Ask the API server what caches that lag behind cannot answer. After a list, everything
	// begins anew.
	if len(p.Relist) > 0 && t.listAgain(ctx, p.Relist) {
		return t.awaitNext(replanAfter), nil
	}
	if isStale, err := t.isStale(ctx, p); isStale || err != nil {
		t.pending = true
		t.retryLater()
		return reconcile.Result{RequeueAfter: t.found.requeue}, err
	}

	// 5. Execute, and remember the results.
	t.executePlan(ctx, p)
	switch {
	case t.replans: // the next plan decides what follows from a refusal
		return t.awaitNext(replanAfter), nil
	case view.Pending:
		return t.awaitNext(0), nil
	}

	// 6. Publish, unless the resource is gone or its deletion has only begun.
	if t.subject.IsDeleting() && !t.outdated && len(t.found.problems) == 0 {
		switch {
		case t.isReleased:
			t.reportOutliving(p)
			return reconcile.Result{}, nil
		case p.SkipsStatus:
			return reconcile.Result{RequeueAfter: t.found.requeue}, nil
		case len(p.Remaining) == 0: // what the finalizer waited for has ended meanwhile
			return t.awaitNext(firstWait), nil
		}
		t.found.add(p.DescribeRemaining())
	}
	if !t.subject.IsDeleting() {
		for _, text := range view.DescribeUnlisted(p) {
			t.found.addUnknown(text)
		}
	}
	return t.publishStatus(ctx, p)
}

// awaitNext ends a reconciliation after which another one follows: after d, or after an event.
func (t *reconciliation) awaitNext(d time.Duration) reconcile.Result {
	t.pending = true
	t.r.cluster.Reads.Record(t.subject.Owner().Owner, t.view.Asked)
	return reconcile.Result{RequeueAfter: d}
}

// Find names the resource with this uid, if it was ever looked at.
func (r *Reconciler) Find(uid types.UID) (name types.NamespacedName, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, found = r.names[uid]
	return name, found
}

// getResource returns the resource as last seen, and its memory; or nil if there is nothing to do:
// it is gone, or is being deleted without our finalizer.
func (r *Reconciler) getResource(ctx context.Context, name types.NamespacedName) (*unstructured.Unstructured, *Memory, error) {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(r.gvk)
	err := r.resources.Get(ctx, name, resource)
	if apierrors.IsNotFound(err) {
		r.forgetResource(name)
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s %s: %w", r.gvk.Kind, name, err)
	}
	memory := r.memoryOf(name, resource)
	resource = memory.newestOf(resource, r.now())
	if isDeletedWithoutFinalizer(resource) {
		return nil, nil, nil
	}
	return resource, memory, nil
}

// isDeletedWithoutFinalizer reports whether a resource is being deleted and does not need us:
// the garbage collector deletes its children.
func isDeletedWithoutFinalizer(resource *unstructured.Unstructured) bool {
	return resource.GetDeletionTimestamp() != nil && !slices.Contains(resource.GetFinalizers(), api.Finalizer)
}

// A reconciliation reconciles one resource once. Each of its parts has one task.
type reconciliation struct {
	*pass
	confirmer
	renderer
	learner
	publisher
}

// A confirmer asks the API server what caches that lag behind cannot answer.
type confirmer struct{ *pass }

// A renderer renders the children of a resource, and generates texts for its Secrets.
type renderer struct{ *pass }

// A learner records the results of a plan.
type learner struct{ *pass }

// A judge observes the children of a resource, and decides whether they are ready.
type judge struct{ *pass }

// A publisher reports the outcome in the status, in events and to the rollout.
type publisher struct{ judge }

// A pass is what a reconciliation is about, and what it finds.
type pass struct {
	r       *Reconciler
	subject *observe.Subject
	choice  Choice
	memory  *Memory
	found   findings
	// view is what the plan was made from. written is the number of writes before.
	view    *observe.Snapshot
	written int64
	// texts are those that are generated for Secrets.
	texts *observe.Texts
	mode  mode
	// generated are the texts that a dry run would generate, as file/key.
	generated []string
	// pruned are the children that were deleted.
	pruned []string
	// pending is true if nothing was decided, since something is on its way; replans, if something
	// was found out by which the next plan decides; failed, if the status could not be written;
	// outdated, if the resource is not as it was seen any more.
	pending, replans, failed, outdated bool
	// wrote is true if a child or a patch was written, undone if fields were taken back, and
	// isReleased if our finalizer was removed.
	wrote, undone, isReleased bool
}

// A mode is how a reconciliation acts on its plan.
type mode int

const (
	// writes: it writes.
	writes mode = iota
	// tries: it asks the API server what it would do.
	tries
	// previews: it sends nothing.
	previews
)

func (t *pass) isDry() bool { return t.mode != writes }

// replanAfter is when to reconcile again because of what was found out just now.
const replanAfter = time.Microsecond
