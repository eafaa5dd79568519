package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// has reports whether the kind has a resource of this name, as far as is known.
func (r *kindController) has(name types.NamespacedName) bool {
	resource, err := r.resources.find(name)
	return resource != nil && err == nil
}

// patience is how long a preview waits for what the templates read: it must be
// long enough for a kind to be listed, and bounded since some never is.
const patience = 30 * time.Second

// preview finds out what a version would make of every resource that stays, as many
// at a time as are served. Those that read what is on its way are tried again
// while patience lasts, or no other version comes.
func (r *kindController) preview(ctx context.Context, next *observe.Version, before rollout.Record) []rollout.Preview {
	trials := map[types.NamespacedName]rollout.Preview{}
	began, todo := time.Now(), r.resources.all()
	for len(todo) > 0 && ctx.Err() == nil {
		var mu sync.Mutex
		var late []*live.Packed
		inParallel(todo, r.parallel, func(packed **live.Packed) {
			o, err := (*packed).Unpack()
			if ctx.Err() != nil || err != nil || o.GetDeletionTimestamp() != nil {
				return
			}
			t, pending := r.previewOne(ctx, next, o, before)
			mu.Lock()
			defer mu.Unlock()
			if trials[t.Name] = t; pending {
				late = append(late, *packed)
			}
		})
		coming, _ := r.versions.coming()
		if coming == nil || coming.Digest != next.Digest || time.Since(began) > patience {
			break
		}
		if todo = late; len(late) == 0 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(soonTick):
		}
	}
	return slices.Collect(maps.Values(trials))
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

// previewOne finds out what a version would make of one resource; pending says that
// something which it reads is on its way.
func (r *kindController) previewOne(ctx context.Context, next *observe.Version, o *unstructured.Unstructured,
	record rollout.Record) (t rollout.Preview, pending bool) {
	tried := r.reconciler.Preview(ctx, next, o)
	r.versions.mu.Lock()
	before := r.versions.before(o.GetUID())
	r.versions.mu.Unlock()
	past := rollout.PastByStatus(record)
	if before != nil {
		past.Fails = func(string) (bool, bool) { return r.fails(ctx, before, o) }
		past.Unwanted = func(p *plan.Plan, _ string) []live.Object { return r.newlyUnwanted(ctx, p, before, o) }
	}
	t = rollout.PreviewOf(next.Digest, tried, o, past)
	t.Mine = t.Same && before != nil && record.Digest == next.Digest && !r.reconciler.Preview(ctx, before, o).Same
	t.Alone = before == nil
	t.Unserved = t.Unserved && t.Alone // else it is served meanwhile
	return t, tried.Pending
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

// fails reports whether the version that serves a resource cannot render its
// children, or its status, either.
func (r *kindController) fails(ctx context.Context, before *observe.Version, o *unstructured.Unstructured) (children, status bool) {
	if before.Kind == nil {
		return true, true
	}
	tried := r.reconciler.Preview(ctx, before, o)
	return tried.Err != nil, tried.StatusErr != nil
}
