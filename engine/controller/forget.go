package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// askAgain is how soon the server is asked again for what is open of a whole kind. It
// doubles each time, up to the slow periodic look.
const askAgain = 5 * time.Second

// An asking is when to ask the server for what is open, such as kinds that are on record
// and that no version in use makes.
type asking struct {
	open string
	// tick is that of the kind's reconciler when it was opened.
	tick  uint64
	tries int
	next  time.Time
}

// timeUntilDue returns how long not to ask for what is open; at first it is delayed.
func (a *asking) timeUntilDue(open string, tick uint64, delay time.Duration) time.Duration {
	if open != a.open {
		*a = asking{open: open, tick: tick, next: time.Now().Add(delay)}
	}
	return time.Until(a.next)
}

// postponeNext delays the next question, at most that long, and returns for how long.
func (a *asking) postponeNext(most time.Duration) time.Duration {
	wait := min(askAgain<<min(a.tries, 10), most)
	a.tries, a.next = a.tries+1, time.Now().Add(wait)
	return wait
}

// forgetKinds removes the kinds from the record that nothing makes any more and of which nothing
// is left, once no rollout is under way. It returns when to look again; 0 means never. Where other
// replicas serve resources too, it waits until what they have sent before the rollout is done or
// never will be.
func (m *rolloutManager) forgetKinds(ctx context.Context, r *kindController) time.Duration {
	crd, delay := m.latestCRD(r.name), time.Duration(0)
	if crd == nil || m.isPaused(r.name) || !r.hasListed() {
		return 0
	}
	if !m.inFlight.currentShare().IsEverything() {
		delay = requestLimit
	}
	unused := kinds.Unused(m.readRecord(crd, r.shard).Kinds, r.versions.listVersions().compiledKinds())
	wait := r.forgets.timeUntilDue(fmt.Sprint(unused), r.reconciler.Tick(), delay)
	if len(unused) == 0 {
		return 0
	}
	if wait > 0 {
		return wait
	}
	// Reconciliations that began before may still create such objects, and so may other
	// installations.
	if r.reconciler.IsRunningSince(r.forgets.tick) || !servesAlone(crd, r.shard, m.options.Namespaces) {
		return r.forgets.postponeNext(r.versions.resyncInterval())
	}
	went, err := m.removeKinds(ctx, r, crd, unused)
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

// servesAlone reports whether an installation alone serves all resources of a kind, and sees all
// namespaces.
func servesAlone(crd metav1.Object, mine shard.Shard, namespaces []string) bool {
	claims := shard.Claims(crd)
	return mine.Whole() && len(namespaces) == 0 && len(claims) == 1 && mine.Holds(claims)
}

// removeKinds removes those of some kinds from the record of which the API server has no object of
// ours, and returns their names.
func (m *rolloutManager) removeKinds(ctx context.Context, r *kindController, crd metav1.Object, unused []kinds.RecordedKind) (
	went []string, err error,
) {
	resources, err := m.allResources(ctx, r)
	if err != nil {
		return nil, err
	}
	var gone []kinds.RecordedKind
	for _, k := range unused {
		if r.reconciler.MayStillWrite(k.GroupKind) {
			continue
		}
		exists, err := m.existsAny(ctx, r.name, k, resources)
		if err != nil {
			return nil, fmt.Errorf("looking for what is left of kind %s: %w", k.Kind, err)
		}
		if !exists {
			gone, went = append(gone, k), append(went, k.GroupKind.String())
		}
	}
	// Without a record nobody would remove the finalizer once the folder is gone.
	isLast := len(gone) == len(m.readRecord(crd, r.shard).Kinds)
	if len(gone) == 0 || isLast && slices.ContainsFunc(resources, hasOurFinalizer) {
		return nil, nil
	}
	if err := m.writeRecord(ctx, crd, r.shard, kinds.Writes{Forgotten: gone}); err != nil {
		return nil, fmt.Errorf("taking kinds off the record on CRD %s: %w", r.name, err)
	}
	slices.Sort(went)
	return slices.Compact(went), nil
}

// hasOurFinalizer reports whether our finalizer is on a resource.
func hasOurFinalizer(o metav1.Object) bool {
	return slices.Contains(o.GetFinalizers(), api.Finalizer)
}

// existsAny asks the API server whether there is a child, or a patched object, of any resource of a
// kind. What the cluster does not serve may exist. A child says itself whose it is, and one that
// does not may be ours; of a patch only the resource's uid tells.
func (m *rolloutManager) existsAny(ctx context.Context, name string, k kinds.RecordedKind, resources []metav1.Object) (bool, error) {
	served, found := m.apis.servedKinds().Preferred(k.GroupKind)
	if !found {
		return true, nil
	}
	if !k.Patched {
		return m.writer.Some(ctx, served, api.LabelOwnerUID, func(child metav1.Object) bool {
			owner, named := api.ParseOwner(child.GetAnnotations()[api.AnnotationOwner])
			return !named || owner.Kind == name
		})
	}
	uids := map[types.UID]bool{}
	for _, resource := range resources {
		uids[resource.GetUID()] = true
	}
	return m.writer.Some(ctx, served, "", func(patched metav1.Object) bool {
		return slices.ContainsFunc(patched.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
			return uids[types.UID(strings.TrimPrefix(entry.Manager, api.PatchManager("")))]
		})
	})
}

// allResources are the metadata of all resources of a kind, whichever replica serves them.
func (m *rolloutManager) allResources(ctx context.Context, r *kindController) (all []metav1.Object, err error) {
	if m.inFlight.currentShare().IsEverything() {
		return r.resources.listKnown(), nil
	}
	served, found := m.apis.findResource(r.gvk)
	if !found {
		return nil, fmt.Errorf("listing resources of %s: %w", r.name, live.ErrNotServed)
	}
	_, err = m.writer.Some(ctx, served, "", func(resource metav1.Object) bool {
		all = append(all, resource)
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("listing resources of %s: %w", r.name, err)
	}
	return all, nil
}

// dropRecovered finds out which of the resources that a rollout has passed are gone, and which of
// those of other replicas are ready. It returns when to look again; 0 means never.
func (m *rolloutManager) dropRecovered(ctx context.Context, r *kindController) time.Duration {
	share := m.inFlight.currentShare()
	var others []types.NamespacedName
	for _, name := range r.versions.passedNames() {
		resource, err := r.resources.findResource(name)
		switch {
		case err != nil || resource != nil && resource.GetDeletionTimestamp() == nil: // it is served here
		case resource != nil || share.IsEverything() || share.IsExclusive(r.name):
			r.versions.dropPassed(name)
		default:
			others = append(others, name)
		}
	}
	wait := r.asksPassed.timeUntilDue(fmt.Sprint(others), 0, 0)
	if len(others) == 0 {
		return 0
	}
	if wait > 0 {
		return wait
	}
	served, found := m.apis.findResource(r.gvk)
	for _, name := range others {
		if !found || ctx.Err() != nil {
			break
		}
		resource, err := m.writer.Read(ctx, served, name.Namespace, name.Name)
		if apierrors.IsNotFound(err) || err == nil && (resource.GetDeletionTimestamp() != nil || status.IsReady(resource)) {
			r.versions.dropPassed(name)
		}
	}
	return r.asksPassed.postponeNext(r.versions.resyncInterval())
}

// passedNames returns the resources that a complete rollout has passed, and that are not known to be
// ready or gone.
func (c rolloutRecorder) passedNames() []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listPassed()
}

// dropPassed records that a resource which a rollout has passed is ready or gone.
func (c rolloutRecorder) dropPassed(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteRecovered(name)
}
