package operator

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/rollout"
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
func (o *Operator) roll(ctx context.Context, r *run) {
	for {
		var timer <-chan time.Time
		if wait := o.advance(ctx, r); wait > 0 {
			timer = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.course.poked:
		case <-timer:
		}
	}
}

// advance takes the rollout of a kind as far as can be now, and says when to
// look again without being poked; 0 means never.
func (o *Operator) advance(ctx context.Context, r *run) time.Duration {
	next, tried := r.course.coming()
	if next != nil && !tried {
		if next.Pending(o.cluster()) || !o.begin(ctx, r, next) {
			return soonTick
		}
	}
	if next != nil {
		o.step(ctx, r)
	}
	if err := o.tellRollout(ctx, r); err != nil {
		if apierrors.IsConflict(err) { // the CRD changed; the cache tells how
			return soonTick
		}
		log.FromContext(ctx).Error(err, "rollout not recorded", "kind", r.name)
		return waveTick
	}
	return r.course.tick()
}

// coming is the version that is being rolled out, and whether it was tried.
func (c *course) coming() (next *reconcile.Version, tried bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next, c.rollout != nil
}

// tick is when to look again without being poked.
func (c *course) tick() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.rollout == nil || c.rollout.State() == rollout.Complete:
		return 0
	case c.rollout.State() == rollout.Running:
		return waveTick
	case len(c.rollout.Failed()) > 0:
		return retryTick
	}
	return 0
}

// begin tries the version on all resources and begins to roll it out. It may
// take long, and holds nobody up.
func (o *Operator) begin(ctx context.Context, r *run, next *reconcile.Version) bool {
	if !r.listed() {
		return false
	}
	var before rollout.Record
	if crd := o.crd(r.name); crd != nil {
		before = rollout.Read(crd.GetAnnotations()[r.share.Key(api.AnnotationRollout)])
	}
	started := time.Now()
	trials := r.try(ctx, next, before)
	if ctx.Err() != nil {
		return false
	}
	c := r.course
	c.mu.Lock()
	if c.next == nil || c.next.Digest != next.Digest { // yet another version came meanwhile
		c.mu.Unlock()
		return false
	}
	settings := next.Kind.Settings.Rollout
	c.rollout = rollout.Begin(trials, rollout.Settings{Digest: next.Digest, Waves: settings.Waves, Deadline: settings.ProgressDeadline.Duration}, before, time.Now())
	c.written, c.retried = before, time.Now()
	c.mu.Unlock()
	log.FromContext(ctx).Info("folder changed; tried on all resources", "kind", r.name, "digest", next.Digest, "resources", len(trials), "took", time.Since(started).String())
	r.lookAtAll()
	return true
}

// step releases the next resources, if the present ones are well.
func (o *Operator) step(ctx context.Context, r *run) {
	crd := o.crd(r.name)
	if crd == nil {
		return
	}
	o.retry(ctx, r)
	now, c := time.Now(), r.course
	c.mu.Lock()
	if c.rollout == nil {
		c.mu.Unlock()
		return
	}
	stopped := c.rollout.State() == rollout.Stopped
	if told := c.rollout.Record(); stopped && c.written.Same(told) && crd.GetAnnotations()[r.share.Key(api.AnnotationApproved)] == told.Approval() {
		c.rollout.Approve(now)
	}
	paused := o.paused(r.name)
	resumed := c.paused && !paused
	if c.paused = paused; resumed {
		c.rollout.Resume(now)
	}
	for _, name := range slices.Concat(c.rollout.Awaited(), c.rollout.Failed()) {
		if r.gone(ctx, name) {
			c.rollout.Left(name)
		}
	}
	if !paused {
		for _, name := range c.rollout.Step(now) {
			r.add(name.Namespace, name.Name)
		}
	}
	goesOn := stopped && c.rollout.State() != rollout.Stopped
	c.mu.Unlock()
	if goesOn || resumed {
		r.lookAtAll() // those that were stopped in the middle of their wave
	}
}

// gone says whether there is no such resource any more, or not for long.
func (r *run) gone(ctx context.Context, name types.NamespacedName) bool {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(r.gvk)
	err := r.resources.Get(ctx, name, resource)
	return apierrors.IsNotFound(err) || err == nil && resource.GetDeletionTimestamp() != nil
}

// paused says whether a whole kind is observed and not changed.
func (o *Operator) paused(name string) bool {
	crd := o.crd(name)
	return o.options.ReadOnly || crd != nil && crd.GetAnnotations()[api.AnnotationPaused] == "true"
}

// retry tries the resources again that the new version could not render.
func (o *Operator) retry(ctx context.Context, r *run) {
	c := r.course
	c.mu.Lock()
	if c.rollout == nil || time.Since(c.retried) < retryTick {
		c.mu.Unlock()
		return
	}
	next, failed, before := c.next, c.rollout.Failed(), c.rollout.Record()
	c.retried = time.Now()
	c.mu.Unlock()
	for _, name := range failed {
		resource := &unstructured.Unstructured{}
		resource.SetGroupVersionKind(r.gvk)
		if err := r.resources.Get(ctx, name, resource); err != nil {
			continue
		}
		t, pending := r.tryOne(ctx, next, resource, before)
		if pending { // the next time tells
			continue
		}
		c.mu.Lock()
		if c.next == next && c.rollout != nil {
			c.rollout.Retried(t)
		}
		c.mu.Unlock()
		r.add(name.Namespace, name.Name)
	}
}
