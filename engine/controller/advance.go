package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

const (
	// previewBudget is how long a kind previews resources before other kinds get a turn.
	previewBudget = 2 * time.Second
	// listPatience is how long a preview waits for what the templates read: it must be long
	// enough for a kind to be listed, and bounded since some never is.
	listPatience = 30 * time.Second
)

// How often a rollout is looked at without an event: while a preview waits for what templates
// read, while a wave is under way, and, where resources cannot be rendered, to preview them again.
const (
	readTick  = time.Second
	waveTick  = 2 * time.Second
	retryTick = time.Minute
)

// advanceKind takes the rollout of a kind as far as can be now. It returns when to look again without
// an event; 0 means never.
func (m *rolloutManager) advanceKind(ctx context.Context, r *kindController) (time.Duration, error) {
	crd := m.latestCRD(r.name)
	if crd == nil {
		return 0, nil
	}
	wait := time.Duration(0)
	if r.versions.isRollingOut() {
		if !m.isObserved(r) {
			return 0, nil // an event tells when it is
		}
		wait = m.advanceRollout(ctx, r, crd)
	} else {
		wait = m.dropRecovered(ctx, r)
	}
	wait = shorterWait(wait, m.storeDeletions(ctx, r))
	if err := m.recordRollout(ctx, r, crd); err != nil {
		return 0, err
	}
	if !r.versions.isRollingOut() {
		wait = shorterWait(wait, m.forgetKinds(ctx, r))
	}
	return wait, nil
}

// isObserved reports whether the resources of a kind are known, and what its versions need of
// the cluster.
func (m *rolloutManager) isObserved(r *kindController) bool {
	if !r.begun.Load() || !r.hasListed() || r.versions.listVersions().isPending(m.runner.newCluster().Caches) {
		return false
	}
	return !m.dividesResources() || m.share.hasCaughtUp(r, m.inFlight.currentShare().Part(r.name))
}

// shorterWait returns the shorter of two times to wait; 0 means for ever.
func shorterWait(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// advanceRollout previews resources for a bounded time, and releases the next ones if the present
// ones are well.
func (m *rolloutManager) advanceRollout(ctx context.Context, r *kindController, crd metav1.Object) time.Duration {
	next, names := r.versions.toPreview(r.listLiving(), time.Now())
	previews, rest := r.previewAll(ctx, next, names)
	switch started := r.versions.recordPreviews(next, previews, r.listLiving(), time.Now()); {
	case started:
		log.FromContext(ctx).Info("folder changed; tried on all resources", "kind", r.name, "digest", next.Digest)
		r.enqueueAll()
	case !r.versions.hasBegun():
		return rest
	default:
		for _, p := range previews {
			r.add(p.name.Namespace, p.name.Name)
		}
	}
	approval := m.readRecord(crd, r.shard).Approved
	released, isResumed, wait := r.versions.takeStep(approval, time.Now())
	if m.tellNamespaces(ctx, r.versions) {
		more, again, then := r.versions.takeStep(approval, time.Now())
		released, isResumed, wait = append(released, more...), isResumed || again, then
	}
	for _, name := range released {
		r.add(name.Namespace, name.Name)
	}
	if isResumed {
		r.enqueueAll() // those that were stopped in the middle of their wave, or without change
	}
	return shorterWait(rest, wait)
}

// tellNamespaces tells a rollout the labels of all namespaces if it waits for them, and reports
// whether they can be read.
func (m *rolloutManager) tellNamespaces(ctx context.Context, c *kindVersions) bool {
	if !c.needsNamespaces() {
		return false
	}
	var found metav1.PartialObjectMetadataList
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	err := m.mgr.GetAPIReader().List(ctx, &found)
	all := make(map[string]map[string]string, len(found.Items))
	for _, n := range found.Items {
		all[n.Name] = n.Labels
	}
	c.setNamespaces(all, err)
	return err == nil
}

// listLiving returns all resources that are not being deleted, as far as is known.
func (r *kindController) listLiving() (all []rollout.Resource) {
	for _, o := range r.resources.listKnown() {
		if o.GetDeletionTimestamp() == nil {
			all = append(all, rollout.ResourceOf(o))
		}
	}
	return all
}

// toPreview records the resources that there are, and returns the target and those that are to be
// previewed with it: all at first, later those that were edited, and now and then those that could
// not be rendered.
func (c rolloutStepper) toPreview(living []rollout.Resource, now time.Time) (*observe.Version, []types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollout.ObserveAll(living)
	names := c.rollout.ToPreview()
	if c.rollout.State() != rollout.Previewing && now.Sub(c.retried) >= retryTick {
		c.retried = now
		names = append(names, c.rollout.Failing()...)
	}
	return c.targetVersion().version, names
}

// recordPreviews records previews with a version, and starts the rollout once all resources have
// been previewed. It reports whether that was just now. Previews that wait for what the templates
// read count once patience is over.
func (c rolloutStepper) recordPreviews(next *observe.Version, previews []namedPreview, living []rollout.Resource,
	now time.Time) (started bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.targetVersion().version != next {
		return false
	}
	for _, p := range previews {
		if isLate := c.rollout.State() == rollout.Previewing && now.Sub(c.began) > listPatience; !p.isPending || isLate {
			c.rollout.Previewed(p.Preview)
		}
	}
	if c.rollout.State() != rollout.Previewing {
		return false
	}
	c.rollout.ObserveAll(living)
	c.rollout.Start(now)
	return c.rollout.State() != rollout.Previewing
}

// hasBegun reports whether all resources were previewed.
func (c rolloutStepper) hasBegun() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rollout.State() != rollout.Previewing
}

// takeStep takes in an approval and advances the rollout. It returns the resources that were
// released, whether a rollout that was stopped continues, or ends, and when to look again without
// an event; 0 means never.
func (c rolloutStepper) takeStep(approval string, now time.Time) (released []types.NamespacedName, isResumed bool, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.rollout.State()
	if _, isUnrecorded := c.newRecord(); before == rollout.Stopped && approval != c.used && !isUnrecorded {
		if c.rollout.Approve(rollout.ParseApproval(approval), now) {
			c.used = approval
		}
	}
	if !c.paused {
		released, wait = c.rollout.Step(now)
	}
	after := c.rollout.State()
	switch {
	case after == rollout.Running || len(c.rollout.ToPreview()) > 0:
		wait = shorterWait(wait, waveTick)
	case len(c.rollout.Failing()) > 0:
		wait = shorterWait(wait, retryTick)
	}
	return released, c.used != "" || before != after && (before == rollout.Stopped || after == rollout.Complete), wait
}

// needsNamespaces reports whether the next wave waits for the labels of namespaces.
func (c rolloutStepper) needsNamespaces() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rollout.NeedsNamespaces()
}

// setNamespaces provides the labels of all namespaces, or the reason why they cannot be read.
func (c rolloutStepper) setNamespaces(all map[string]map[string]string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollout.SetNamespaces(all, err)
}
