package controller

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// How often a rollout is looked at without an event: while a wave is under
// way, while something is in the way of a step, and, where resources cannot be
// rendered, to try them again.
const (
	waveTick  = 2 * time.Second
	soonTick  = 200 * time.Millisecond
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

// advance takes the rollout of a kind as far as can be now, and says when to
// look again without being poked; 0 means never.
func (o *Operator) advance(ctx context.Context, r *kindController) time.Duration {
	if !o.leads() {
		return 0
	}
	next, tried := r.versions.coming()
	if next != nil && !tried {
		if next.IsPending(o.cluster().Caches) || !o.begin(ctx, r, next) {
			return soonTick
		}
	}
	forced := time.Duration(0)
	if next != nil {
		o.step(ctx, r)
	} else {
		forced = o.dropForced(ctx, r)
	}
	retry := o.storeDeletions(ctx, r)
	if err := o.announceRollout(ctx, r); err != nil {
		if apierrors.IsConflict(err) { // the CRD changed; the cache tells how
			return soonTick
		}
		log.FromContext(ctx).Error(err, "rollout not recorded", "kind", r.name)
		return waveTick
	}
	if next, _ = r.versions.coming(); next == nil {
		if o.turns.now().AllOf(r.name) { // which is given back
			o.names.Add(r.name)
			return retry
		}
		return shorterWait(retry, shorterWait(forced, o.forget(ctx, r)))
	}
	return shorterWait(retry, r.versions.tick())
}

// shorterWait returns the shorter of two times to wait; 0 means for ever.
func shorterWait(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// coming is the version that is being rolled out, and whether it was tried.
func (c *versionTracker) coming() (next *observe.Version, tried bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next, c.rollout != nil
}

// tick is when to look again without being poked.
func (c *versionTracker) tick() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.rollout == nil || c.rollout.State() == rollout.Complete:
		return 0
	case c.rollout.State() == rollout.Running || len(c.rollout.NotPreviewed()) > 0:
		return waveTick
	case len(c.rollout.Failed()) > 0:
		return retryTick
	}
	return 0
}

// begin tries the version on all resources and begins to roll it out. It may
// take long, and holds nobody up.
func (o *Operator) begin(ctx context.Context, r *kindController, next *observe.Version) bool {
	if !r.listed() || o.divides() && !o.caughtUp(r, o.turns.now()) {
		return false
	}
	var before rollout.Record
	if crd := o.crd(r.name); crd != nil {
		before = rollout.Read(crd.GetAnnotations()[r.shard.Key(api.AnnotationRollout)])
	}
	started := time.Now()
	trials := r.preview(ctx, next, before)
	if ctx.Err() != nil {
		return false
	}
	if !r.rollOut(next, trials, before) {
		return false
	}
	log.FromContext(ctx).Info("folder changed; tried on all resources", "kind", r.name, "digest", next.Digest, "resources", len(trials),
		"took", time.Since(started).String())
	r.enqueueAll()
	return true
}

// rollOut begins the rollout of a version that was tried; false if yet another one
// came meanwhile.
func (r *kindController) rollOut(next *observe.Version, trials []rollout.Preview, before rollout.Record) bool {
	c := r.versions
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil || c.next.Digest != next.Digest {
		return false
	}
	how := rollout.Settings{Digest: next.Digest, Rollout: next.Kind.Settings.Rollout, Back: c.back,
		Approved: c.rollback.Approved}
	c.rollout = rollout.Begin(trials, how, before, time.Now())
	c.rollout.Halt(c.halted, time.Now())
	c.written, c.retried = before, time.Now()
	r.each(c.rollout.Missed) // served by the version that they had while the preview ran
	return true
}

// step releases the next resources, if the present ones are well.
func (o *Operator) step(ctx context.Context, r *kindController) {
	crd := o.crd(r.name)
	if crd == nil {
		return
	}
	o.retry(ctx, r)
	goesOn := o.stepped(ctx, r, crd)
	if o.tellNamespaces(ctx, r.versions) {
		goesOn = o.stepped(ctx, r, crd) || goesOn
	}
	if goesOn {
		r.enqueueAll() // those that were stopped in the middle of their wave, or without change
	}
}

// tellNamespaces tells a rollout the labels of all namespaces if it waits for them, and
// reports whether it did.
func (o *Operator) tellNamespaces(ctx context.Context, c *versionTracker) bool {
	c.mu.Lock()
	rolling, wants := c.rollout, c.rollout != nil && c.rollout.WantsNamespaces()
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
	rolling.Namespaces(all, err)
	return err == nil
}

// stepped takes the step, and reports whether a rollout that was stopped or paused
// goes on, or ends.
func (o *Operator) stepped(ctx context.Context, r *kindController, crd metav1.Object) bool {
	now, c := time.Now(), r.versions
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil {
		return false
	}
	before := c.rollout.State()
	stopped := before == rollout.Stopped
	approval := crd.GetAnnotations()[r.shard.Key(api.AnnotationApproved)]
	approves := rollout.ReadApproval(approval)
	if told := c.rollout.Record(); stopped && approval != c.used && c.written.Same(told) && approves.Stop == told.Stop() {
		c.rollout.Approve(approves, now)
		c.used = approval
	}
	c.rollout.Halt(c.halted, now)
	paused := o.paused(r.name)
	resumed := c.paused && !paused
	if c.paused = paused; resumed {
		c.rollout.Resume(now)
	}
	for _, name := range slices.Concat(c.rollout.Awaited(), c.rollout.Failed(), c.rollout.NotPreviewed(), c.rollout.Forced()) {
		if r.gone(name) {
			c.rollout.Left(name)
		}
	}
	if !paused {
		if c.rollout.Ends(now) {
			r.each(c.rollout.Look)
		}
		for _, name := range c.rollout.Step(now) {
			r.add(name.Namespace, name.Name)
		}
	}
	after := c.rollout.State()
	return resumed || c.used != "" || before != after && (stopped || after == rollout.Complete)
}

// each takes up how every resource that stays is now, looked at or not.
func (r *kindController) each(take func(rollout.Resource)) {
	for _, o := range r.resources.all() {
		if o.DeletionTimestamp == nil {
			take(labelled(o))
		}
	}
}

// gone reports whether there is no such resource any more, or not for long.
func (r *kindController) gone(name types.NamespacedName) bool {
	resource, err := r.resources.find(name)
	return err == nil && (resource == nil || resource.DeletionTimestamp != nil)
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

// retry tries the resources again that were made or changed since they were
// tried, and now and then those that the new version could not render.
func (o *Operator) retry(ctx context.Context, r *kindController) {
	c := r.versions
	c.mu.Lock()
	if c.rollout == nil {
		c.mu.Unlock()
		return
	}
	next, names, before := c.next, c.rollout.ToPreview(), c.rollout.Record()
	if time.Since(c.retried) >= retryTick {
		c.retried = time.Now()
		names = append(names, c.rollout.Failed()...)
	}
	c.mu.Unlock()
	for _, name := range names {
		resource := &unstructured.Unstructured{}
		resource.SetGroupVersionKind(r.gvk)
		if err := r.resources.Get(ctx, name, resource); err != nil {
			continue
		}
		t, pending := r.previewOne(ctx, next, resource, before)
		if pending { // the next time tells
			continue
		}
		c.mu.Lock()
		if c.next == next && c.rollout != nil {
			c.rollout.Previewed(t)
		}
		c.mu.Unlock()
		r.add(name.Namespace, name.Name)
	}
}
