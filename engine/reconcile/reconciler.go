package reconcile

import (
	"context"
	"fmt"
	"sync"
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
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// Cluster is what a Reconciler needs of the cluster.
type Cluster struct {
	Children *observe.Children
	Served   func() *observe.Served
	Writer   *apply.Writer
	Events   events.EventRecorder
	// DeclaresConditions says whether a CRD declares status.conditions for a
	// kind of child.
	DeclaresConditions func(schema.GroupKind) bool
	// CRD returns the metadata of the kind's CRD, or nil.
	CRD func(name string) metav1.Object
}

// A Version is what a kind runs with: its compiled folder, or why there is
// none, and which kinds of children to look at.
type Version struct {
	// Name is that of the kind.
	Name string
	Kind *kind.Kind
	// Digest tells two versions of a folder apart, the installation's settings
	// included.
	Digest string
	// Removed: there is no folder any more; Kind is then nil.
	Removed bool
	// Broken says why the folder does not load; Kind is then nil.
	Broken error
	// Schema is the CRD's version that resources are shown in, also when the
	// folder does not load; nil if the CRD cannot be read.
	Schema *crdschema.Version
	// Children are all kinds of children there may be, those of the folder and
	// those on record, and how much of them is needed.
	Children map[schema.GroupVersionKind]observe.Need
}

// A Reconciler serves the custom resources of one kind.
type Reconciler struct {
	name      string
	gvk       schema.GroupVersionKind
	resources client.Reader
	cluster   Cluster
	choose    func(*unstructured.Unstructured) Choice
	served    func(*unstructured.Unstructured, Outcome)

	mu     sync.Mutex
	memory map[types.NamespacedName]*memory
	record record
}

// New returns a Reconciler for the kind named name; resources reads its custom
// resources, of kind gvk, from a cache. Follow must be called before it serves
// any.
func New(name string, gvk schema.GroupVersionKind, resources client.Reader, cluster Cluster) *Reconciler {
	return &Reconciler{name: name, gvk: gvk, resources: resources, cluster: cluster, memory: map[types.NamespacedName]*memory{}}
}

// renderLimit bounds how long the templates of one resource may run.
const renderLimit = 10 * time.Second

// Reconcile makes the cluster say what one custom resource wants, and says in
// its status what became of it.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	resource, err := r.observe(ctx, req.NamespacedName)
	if resource == nil || err != nil {
		return reconcile.Result{}, err
	}
	choice := r.choose(resource)
	view := r.look(choice.Version, resource)
	if view.pending { // Synced wakes us
		return reconcile.Result{}, nil
	}
	turn := &turn{Reconciler: r, version: choice.Version, choice: choice, resource: resource, memory: r.remember(req.NamespacedName, resource.GetUID())}
	turn.inherit()
	rendered := turn.render(ctx, view)
	decided := turn.plan(rendered, view)
	turn.apply(ctx, decided)
	turn.prune(ctx, decided)
	return turn.report(ctx, decided)
}

// Find names the resource with this uid, if it was ever looked at.
func (r *Reconciler) Find(uid types.UID) (name types.NamespacedName, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.memory {
		if m.uid == uid {
			return name, true
		}
	}
	return types.NamespacedName{}, false
}

// observe returns the resource as last seen, or nil when there is nothing to
// do for it: it is gone, or going, and its children go with it.
func (r *Reconciler) observe(ctx context.Context, name types.NamespacedName) (*unstructured.Unstructured, error) {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(r.gvk)
	err := r.resources.Get(ctx, name, resource)
	if apierrors.IsNotFound(err) {
		r.forget(name)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", r.gvk.Kind, name, err)
	}
	if resource.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	return r.remember(name, resource.GetUID()).newest(resource), nil
}

// A turn is one pass over one resource: it collects what is to be reported.
type turn struct {
	*Reconciler
	version  *Version
	choice   Choice
	resource *unstructured.Unstructured
	memory   *memory
	found    findings
}

func (t *turn) owner() plan.Owner {
	return plan.Owner{
		Owner: api.Owner{Kind: t.name, Namespace: t.resource.GetNamespace(), Name: t.resource.GetName()},
		GVK:   t.gvk, UID: t.resource.GetUID(),
	}
}
