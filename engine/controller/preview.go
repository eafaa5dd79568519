package controller

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/locks"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// has reports whether the kind has a resource of this name, as far as is known.
func (r *kindController) has(name types.NamespacedName) bool {
	resource, err := r.resources.findResource(name)
	return resource != nil && err == nil
}

// A namedPreview is a preview of a resource, whether something that the templates read is on its
// way, and the name of the resource.
type namedPreview struct {
	rollout.Preview
	name      types.NamespacedName
	isPending bool
}

// previewAll previews some resources with a version, as many at a time as are served, for a
// bounded time. It returns when to continue, 0 for never.
func (r *kindController) previewAll(ctx context.Context, next *observe.Version, names []types.NamespacedName) (
	previews []namedPreview, wait time.Duration,
) {
	var mu locks.Mutex
	deadline := time.Now().Add(previewBudget)
	inParallel(names, r.parallel, func(name *types.NamespacedName) {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(r.gvk)
		switch {
		case ctx.Err() != nil:
			return
		case time.Now().After(deadline):
			mu.Lock()
			defer mu.Unlock()
			wait = time.Nanosecond
			return
		case r.resources.Get(ctx, *name, o) != nil || o.GetDeletionTimestamp() != nil:
			return
		}
		p, isPending := r.previewOne(ctx, next, o)
		mu.Lock()
		defer mu.Unlock()
		previews = append(previews, namedPreview{p, *name, isPending})
		if isPending && wait == 0 {
			wait = readTick
		}
	})
	return previews, wait
}

// inParallel does something with each of some things, with at most so many at a time.
// What panics, panics in the caller, which is guarded.
func inParallel[T any](all []T, most int, do func(*T)) {
	var group sync.WaitGroup
	slots, errs := make(chan struct{}, max(most, 1)), make([]error, len(all))
	for i := range all {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			defer panics.Catch(&errs[i], "working abreast")
			do(&all[i])
		})
	}
	group.Wait()
	if err := panics.In(errors.Join(errs...)); err != nil {
		panic(err)
	}
}

// previewOne previews one resource with a version; pending is true if something that it
// reads is on its way.
func (r *kindController) previewOne(ctx context.Context, next *observe.Version, o *unstructured.Unstructured) (
	p rollout.Preview, pending bool,
) {
	tried := r.reconciler.Preview(ctx, next, o)
	marks := r.versions.marksOf(o.GetUID())
	present, record, isResumed := r.versions.beforePreview(o.GetUID(), marks)
	past := rollout.PastByStatus(record)
	if present != nil {
		past.Fails = func(string) (bool, bool) { return r.failsAnyway(ctx, present, o) }
		past.Unwanted = func(p *plan.Plan, _ string) []live.Object { return r.newlyUnwanted(ctx, p, present, o) }
	}
	p = rollout.PreviewOf(next.Digest, tried, o, past)
	isSame := tried.Same && p.Failure == ""
	presentChanges := isSame && (present == nil || isResumed && !r.reconciler.Preview(ctx, present, o).Same)
	if isResumed {
		marks = r.readMarks(o.GetUID())
	}
	target, _ := rollout.ParseRevision(next.Revision)
	// What no version has served, and no other one can, begins with the new one, unless a person
	// has to approve that.
	_, isServed := status.ReadyOf(o)
	isNew := present == nil && !isServed && tried.Live == 0 && record.State != rollout.Stopped
	p.Reached = isNew || rollout.Reached(target, marks, !isSame, presentChanges)
	return p, tried.Pending
}

// readMarks returns the revisions that the children of a resource carry.
func (r *kindController) readMarks(uid types.UID) (marks []rollout.Revision) {
	for gvk := range r.versions.listVersions().childKinds() {
		children, _ := r.o.children.Of(gvk, uid) // what is not known has no mark
		for _, child := range children {
			if mark, ok := rollout.ParseRevision(plan.WrittenBy(child.Meta)); ok {
				marks = append(marks, mark)
			}
		}
	}
	return marks
}

// beforePreview returns the version that serves a resource, or nil if it is not here, the
// record of the rollout by an earlier process, and whether there is one.
func (c rolloutStepper) beforePreview(uid types.UID, marks []rollout.Revision) (*observe.Version, rollout.Record, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	present, _ := c.presentOf(uid, marks)
	if c.rollout.IsResumed() {
		return present.version, c.record, true
	}
	return present.version, rollout.Record{}, false
}

// newlyUnwanted are the children that the plan does not want and that the version
// before does: what an edit takes away is no matter of the rollout.
func (r *kindController) newlyUnwanted(ctx context.Context, p *plan.Plan, before *observe.Version,
	o *unstructured.Unstructured) []live.Object {
	all := rollout.Unwanted(p)
	if len(all) == 0 || before.Kind == nil {
		return all
	}
	tried := r.reconciler.Preview(ctx, before, o)
	if tried.Plan == nil {
		return all
	}
	gone := rollout.Unwanted(tried.Plan)
	return slices.DeleteFunc(all, func(l live.Object) bool {
		return slices.ContainsFunc(gone, func(g live.Object) bool { return g.Meta.GetUID() == l.Meta.GetUID() })
	})
}

// failsAnyway reports whether the version that serves a resource cannot render its
// children, or its status, either.
func (r *kindController) failsAnyway(ctx context.Context, before *observe.Version, o *unstructured.Unstructured) (children, ofStatus bool) {
	if before.Kind == nil {
		return true, true
	}
	tried := r.reconciler.Preview(ctx, before, o)
	return tried.Err != nil, tried.StatusErr != nil
}
