package controller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// How often a rollout is looked at without an event: while what a preview needs is being
// listed, while something is in the way of a step, while a wave is under way, and, where
// resources cannot be rendered, to preview them again.
const (
	listTick  = 20 * time.Millisecond
	soonTick  = 200 * time.Millisecond
	waveTick  = 2 * time.Second
	retryTick = time.Minute
)

// roll takes the rollouts of a kind on, until ctx ends.
func (o *Operator) roll(ctx context.Context, r *kindController) {
	for {
		var timer <-chan time.Time
		if wait := o.advanceSafely(ctx, r); wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.versions.triggered:
		case <-timer:
		}
	}
}

// advanceSafely advances a rollout. After a panic it is looked at again like one
// that cannot be rendered.
func (o *Operator) advanceSafely(ctx context.Context, r *kindController) time.Duration {
	wait := retryTick
	_ = reconcile.Guard(r.name, "rolling out "+r.name, func() error {
		wait = o.advance(ctx, r)
		return nil
	})
	return wait
}

// advance takes the rollout of a kind as far as can be now, and returns when to look again
// without an event; 0 means never.
func (o *Operator) advance(ctx context.Context, r *kindController) time.Duration {
	if !o.leads() {
		return 0
	}
	if wait := o.previewRollout(ctx, r); wait > 0 {
		return max(wait, soonTick)
	}
	rest := time.Duration(0)
	if r.versions.isRollingOut() {
		rest = o.stepRollout(ctx, r)
	} else {
		rest = o.dropPassed(ctx, r)
	}
	retry := o.storeDeletions(ctx, r)
	if wait := o.recordRollout(ctx, r); wait > 0 {
		return wait
	}
	if !r.versions.isRollingOut() {
		if o.turns.now().AllOf(r.name) { // which is given back
			o.names.Add(r.name)
			return retry
		}
		return shorterWait(retry, shorterWait(rest, o.forget(ctx, r)))
	}
	return shorterWait(retry, rest)
}

// shorterWait returns the shorter of two times to wait; 0 means for ever.
func shorterWait(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// findComing returns the version whose rollout is under way, or nil, and whether it is previewed.
func (c *versionTracker) findComing() (next *observe.Version, isPreviewing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil {
		return nil, false
	}
	return c.targetRevision().version, c.rollout.State() == rollout.Previewing
}

// previewRollout previews a version on all resources, and begins its rollout, once what it needs is
// listed. It returns when to try again; 0 if no preview is left.
func (o *Operator) previewRollout(ctx context.Context, r *kindController) time.Duration {
	next, isPreviewing := r.versions.findComing()
	switch {
	case !isPreviewing:
		return 0
	case next.IsPending(o.cluster().Caches), !r.listed(), o.divides() && !o.caughtUp(r, o.turns.now()):
		return listTick
	}
	c, started := r.versions, time.Now()
	previews := r.previewAll(ctx, next, c.toPreview(next, r.listLiving()))
	if ctx.Err() != nil {
		return listTick
	}
	living := r.listLiving()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil || c.targetRevision().version != next { // another version came meanwhile
		return listTick
	}
	for _, p := range previews {
		c.rollout.Previewed(p)
	}
	c.rollout.ObserveAll(living)
	if c.rollout.Start(time.Now()); c.rollout.State() == rollout.Previewing {
		return listTick // resources were created or edited meanwhile
	}
	log.FromContext(ctx).Info("folder changed; tried on all resources", "kind", r.name, "digest", next.Digest, "resources", len(previews),
		"took", time.Since(started).String())
	r.enqueueAll()
	return 0
}

// toPreview records the resources that there are, and returns those that have to be previewed
// with a version, which none are if another one is rolled out by now.
func (c *versionTracker) toPreview(next *observe.Version, living []rollout.Resource) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil || c.targetRevision().version != next {
		return nil
	}
	c.rollout.ObserveAll(living)
	return c.rollout.ToPreview()
}

// stepRollout releases the next resources, if the present ones are well. It returns when to look
// again without an event; 0 means never.
func (o *Operator) stepRollout(ctx context.Context, r *kindController) time.Duration {
	crd := o.crd(r.name)
	if crd == nil {
		return 0
	}
	o.retry(ctx, r)
	goesOn, wait := o.takeStep(r, crd)
	if o.tellNamespaces(ctx, r.versions) {
		again := false
		again, wait = o.takeStep(r, crd)
		goesOn = goesOn || again
	}
	if goesOn {
		r.enqueueAll() // those that were stopped in the middle of their wave, or without change
	}
	return wait
}

// tellNamespaces tells a rollout the labels of all namespaces if it waits for them, and
// reports whether it did.
func (o *Operator) tellNamespaces(ctx context.Context, c *versionTracker) bool {
	c.mu.Lock()
	rolling, wants := c.rollout, c.rollout != nil && c.rollout.NeedsNamespaces()
	c.mu.Unlock()
	if !wants {
		return false
	}
	var found metav1.PartialObjectMetadataList
	found.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	err := o.mgr.GetAPIReader().List(ctx, &found)
	all := make(map[string]map[string]string, len(found.Items))
	for _, n := range found.Items {
		all[n.Name] = n.Labels
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rolling.SetNamespaces(all, err)
	return err == nil
}

// takeStep takes the step, and reports whether a rollout that was stopped or paused
// continues, or ends. It returns when to look again without an event; 0 means never.
func (o *Operator) takeStep(r *kindController, crd metav1.Object) (goesOn bool, wait time.Duration) {
	living := r.listLiving()
	now, c := time.Now(), r.versions
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil {
		return false, 0
	}
	before := c.rollout.State()
	approval := crd.GetAnnotations()[r.shard.Key(api.AnnotationApproved)]
	if _, changed := c.announced(); before == rollout.Stopped && approval != c.used && !changed {
		if c.rollout.Approve(rollout.ParseApproval(approval), now) {
			c.used = approval
		}
	}
	c.rollout.Halt(c.halted, now)
	paused := o.paused(r.name)
	resumed := c.paused && !paused
	if c.paused = paused; resumed {
		c.rollout.RestartDeadline(now)
	}
	c.rollout.ObserveAll(living)
	if !paused {
		var released []types.NamespacedName
		released, wait = c.rollout.Step(now)
		for _, name := range released {
			r.add(name.Namespace, name.Name)
		}
	}
	after := c.rollout.State()
	switch {
	case after == rollout.Running || len(c.rollout.ToPreview()) > 0:
		wait = shorterWait(wait, waveTick)
	case len(c.rollout.Failing()) > 0:
		wait = shorterWait(wait, retryTick)
	}
	return resumed || c.used != "" || before != after && (before == rollout.Stopped || after == rollout.Complete), wait
}

// listLiving returns all resources that are not being deleted, as far as is known.
func (r *kindController) listLiving() (all []rollout.Resource) {
	for _, o := range r.resources.all() {
		if o.DeletionTimestamp == nil {
			all = append(all, rollout.ResourceOf(o))
		}
	}
	return all
}

// paused reports whether a whole kind is observed and not changed.
func (o *Operator) paused(name string) bool { return o.options.ReadOnly || o.isPausedByCRD(name) }

// isPausedByCRD reports whether a person paused the kind.
func (o *Operator) isPausedByCRD(name string) bool {
	crd := o.crd(name)
	return crd != nil && crd.GetAnnotations()[api.AnnotationPaused] == "true"
}

// exportPaused sets the metric of whether a kind that runs is paused.
func (o *Operator) exportPaused(name string) { metrics.Kind(name).Paused(o.isPausedByCRD(name)) }

// retry previews the resources again that were edited since their preview, and now and then
// those that the new version could not render.
func (o *Operator) retry(ctx context.Context, r *kindController) {
	c := r.versions
	c.mu.Lock()
	if c.rollout == nil {
		c.mu.Unlock()
		return
	}
	next, names := c.targetRevision().version, c.rollout.ToPreview()
	if time.Since(c.retried) >= retryTick {
		c.retried = time.Now()
		names = append(names, c.rollout.Failing()...)
	}
	c.mu.Unlock()
	for _, name := range names {
		resource := &unstructured.Unstructured{}
		resource.SetGroupVersionKind(r.gvk)
		if err := r.resources.Get(ctx, name, resource); err != nil {
			continue
		}
		p, pending := r.previewOne(ctx, next, resource)
		if pending { // the next time tells
			continue
		}
		c.mu.Lock()
		if c.rollout != nil && c.targetRevision().version == next {
			c.rollout.Previewed(p)
		}
		c.mu.Unlock()
		r.add(name.Namespace, name.Name)
	}
}
