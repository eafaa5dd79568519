package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// askAgain is how soon the server is asked again for what is open of a whole kind. It
// doubles each time, up to the slow periodic look.
const askAgain = 5 * time.Second

// An asking is when to ask the server for what is open, such as kinds that are on record
// and that no version in use makes.
type asking struct {
	open  string
	tries int
	next  time.Time
}

// timeUntilDue returns how long not to ask for what is open; at first it is delayed.
func (a *asking) timeUntilDue(open string, delay time.Duration) time.Duration {
	if open != a.open {
		*a = asking{open: open, next: time.Now().Add(delay)}
	}
	return time.Until(a.next)
}

// postponeNext delays the next question, at most that long, and returns for how long.
func (a *asking) postponeNext(most time.Duration) time.Duration {
	wait := min(askAgain<<min(a.tries, 10), most)
	a.tries, a.next = a.tries+1, time.Now().Add(wait)
	return wait
}

// forget takes off the record what nothing makes any more and of which nothing is
// left, once no rollout is under way. It says when to look again; 0 means never.
// Where other replicas serve resources too, it waits until what they have sent before the
// rollout is done or never will be.
func (o *Operator) forget(ctx context.Context, r *kindController) time.Duration {
	crd, versions, delay := o.crd(r.name), r.versions.versions(), time.Duration(0)
	if crd == nil || o.paused(r.name) || !r.listed() {
		return 0
	}
	if !o.turns.now().Whole() {
		delay = requestLimit
	}
	unused := reconcile.Unused(crd, versions)
	wait := r.forgets.timeUntilDue(fmt.Sprint(unused), delay)
	if len(unused) == 0 {
		return 0
	}
	if wait > 0 {
		return wait
	}
	resources, err := o.allResources(ctx, r)
	var went []string
	if err == nil {
		went, err = r.reconciler.Forget(ctx, versions, resources)
	}
	switch {
	case apierrors.IsConflict(err): // the CRD changed; the cache tells how
	case err != nil && ctx.Err() == nil:
		log.FromContext(ctx).Error(err, "record not looked through", "kind", r.name)
	case len(went) > 0:
		log.FromContext(ctx).Info("nothing is left of kinds that are not made any more; they are off the record", "kind", r.name, "kinds",
			strings.Join(went, ","))
	}
	return r.forgets.postponeNext(r.versions.resyncInterval())
}

// allResources are the metadata of all resources of a kind, whichever replica serves them.
func (o *Operator) allResources(ctx context.Context, r *kindController) (all []*live.Packed, err error) {
	if o.turns.now().Whole() {
		return r.resources.all(), nil
	}
	served, found := o.resource(r.gvk)
	if !found {
		return nil, fmt.Errorf("listing resources of %s: %w", r.name, live.ErrNotServed)
	}
	_, err = o.writer.Some(ctx, served, "", func(resource metav1.Object) bool {
		all = append(all, &live.Packed{PartialObjectMetadata: *resource.(*metav1.PartialObjectMetadata)})
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("listing resources of %s: %w", r.name, err)
	}
	return all, nil
}

// dropPassed forgets, of the resources that a rollout has passed, those that are gone,
// and those of other replicas that are ready. It says when to look again; 0 means never.
func (o *Operator) dropPassed(ctx context.Context, r *kindController) time.Duration {
	c, share := r.versions, o.turns.now()
	c.mu.Lock()
	names := slices.SortedFunc(maps.Keys(c.passed), compareNames)
	c.mu.Unlock()
	var others []types.NamespacedName
	for _, name := range names {
		resource, err := r.resources.find(name)
		switch {
		case err != nil || resource != nil && resource.DeletionTimestamp == nil: // it is served here
		case resource != nil || share.Whole() || share.AllOf(r.name):
			c.dropPassed(name)
		default:
			others = append(others, name)
		}
	}
	wait := r.asksPassed.timeUntilDue(fmt.Sprint(others), 0)
	if len(others) == 0 {
		return 0
	}
	if wait > 0 {
		return wait
	}
	served, found := o.resource(r.gvk)
	for _, name := range others {
		if !found || ctx.Err() != nil {
			break
		}
		resource, err := o.writer.Read(ctx, served, name.Namespace, name.Name)
		if apierrors.IsNotFound(err) || err == nil && (resource.GetDeletionTimestamp() != nil || status.IsReady(resource)) {
			c.dropPassed(name)
		}
	}
	return r.asksPassed.postponeNext(r.versions.resyncInterval())
}

// dropPassed forgets one of the resources that a rollout has passed.
func (c *versionTracker) dropPassed(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.passed, name)
}
