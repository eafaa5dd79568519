package operator

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/rollout"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// all lists the resources of the kind as the cache has them; nil while it has
// not been filled.
func (r *run) all() []unstructured.Unstructured {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(r.gvk.GroupVersion().WithKind(r.gvk.Kind + "List"))
	ended, end := context.WithCancel(context.Background())
	end() // so that resources which cannot be listed are not waited for
	if err := r.resources.List(ended, list); err != nil {
		return nil
	}
	return list.Items
}

// patience is how long a trial waits for what the templates read: it must be
// long enough for a kind to be listed, and bounded since some never is.
const patience = 30 * time.Second

// try finds out what a version would make of every resource that stays. Those
// that read what is on its way are tried again while patience lasts, or no
// other version comes.
func (r *run) try(ctx context.Context, next *reconcile.Version, before rollout.Record) []rollout.Trial {
	trials := map[types.NamespacedName]rollout.Trial{}
	began, todo := time.Now(), r.all()
	for len(todo) > 0 && ctx.Err() == nil {
		var late []unstructured.Unstructured
		for _, o := range todo {
			if ctx.Err() != nil || o.GetDeletionTimestamp() != nil {
				continue
			}
			t, pending := r.tryOne(ctx, next, &o, before)
			if trials[t.Name] = t; pending {
				late = append(late, o)
			}
		}
		coming, _ := r.course.coming()
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

// tryOne finds out what a version would make of one resource; pending says that
// something which it reads is on its way.
func (r *run) tryOne(ctx context.Context, next *reconcile.Version, o *unstructured.Unstructured, before rollout.Record) (t rollout.Trial, pending bool) {
	tried := r.reconciler.Try(ctx, next, o)
	return TrialOf(next.Digest, tried, o, Past{
		Record: before,
		Fails:  func(reason string) (bool, bool) { return r.failsAnyway(ctx, o, reason) },
		Held:   func(p *plan.Plan, reason string) []observe.Live { return r.newlyHeld(ctx, p, o, reason) },
	}), tried.Pending
}

// A Past is what is known of how a resource was served before.
type Past struct {
	// Record is that of the rollout before.
	Record rollout.Record
	// Fails says, by the reason of the condition Ready, whether the version that
	// serves the resource cannot render its children, or its status, either.
	Fails func(reason string) (children, status bool)
	// Held are the children that the plan does not want and holds, and that the
	// version before does want.
	Held func(p *plan.Plan, reason string) []observe.Live
}

// PastByStatus is a Past of which only the resource's own status is known.
func PastByStatus(record rollout.Record) Past {
	return Past{Record: record, Fails: failsByStatus, Held: heldByStatus}
}

func failsByStatus(reason string) (children, status bool) {
	return reason == "RenderFailed" || reason == "Refused", reason == "StatusFailed"
}

func heldByStatus(p *plan.Plan, reason string) []observe.Live {
	if reason == "PruneHeld" {
		return nil
	}
	return p.Held
}

// TrialOf is what a rollout must know of a resource that was tried with the
// version of that digest.
func TrialOf(digest string, tried reconcile.Tried, o *unstructured.Unstructured, past Past) rollout.Trial {
	t := rollout.Trial{Name: reconcile.Key(o), UID: o.GetUID(), Generation: o.GetGeneration(), Children: tried.Live}
	ready, seen := readiness(o)
	t.Edited = !seen && tried.Live == 0 || seen && ready.observed != o.GetGeneration()
	t.Ready = ready.status == "True" || past.Record.Digest == digest && !ready.since.Before(past.Record.Began)
	t.Refused = ready.reason == "Invalid" || ready.reason == "Forbidden"
	if tried.Err != nil {
		if t.Same, _ = past.Fails(ready.reason); !t.Same {
			t.Error = tried.Err.Error()
		}
		return t
	}
	if t.Same = tried.Same; tried.StatusErr != nil {
		if _, anyway := past.Fails(ready.reason); !anyway {
			t.Error = tried.StatusErr.Error()
			return t
		}
	}
	for _, l := range append(slices.Clone(tried.Plan.Prune), past.Held(tried.Plan, ready.reason)...) {
		if l.Meta.GetAnnotations()[api.AnnotationOnDelete] != "keep" {
			t.Lost = append(t.Lost, rollout.Child{GroupKind: l.GVK.GroupKind(), Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName()})
		}
	}
	return t
}

// newlyHeld are the children that the plan does not want and the version before
// does: what is in them is kept, but the resource would be served without them.
// Where that version is not here, the status says whether any were held before.
func (r *run) newlyHeld(ctx context.Context, p *plan.Plan, o *unstructured.Unstructured, reason string) []observe.Live {
	if len(p.Held) == 0 {
		return nil
	}
	r.course.mu.Lock()
	before := r.course.before(reconcile.Key(o))
	r.course.mu.Unlock()
	if before == nil {
		return heldByStatus(p, reason)
	}
	if before.Kind == nil {
		return p.Held
	}
	tried := r.reconciler.Try(ctx, before, o)
	if tried.Plan == nil {
		return p.Held
	}
	return slices.DeleteFunc(slices.Clone(p.Held), func(l observe.Live) bool {
		return slices.ContainsFunc(tried.Plan.Held, func(h observe.Live) bool { return h.Meta.GetUID() == l.Meta.GetUID() })
	})
}

// failsAnyway says whether the version that serves a resource cannot render its
// children, or its status, either; where that version is not here, the status
// says so.
func (r *run) failsAnyway(ctx context.Context, o *unstructured.Unstructured, reason string) (children, status bool) {
	r.course.mu.Lock()
	before := r.course.before(reconcile.Key(o))
	r.course.mu.Unlock()
	if before == nil {
		return failsByStatus(reason)
	}
	if before.Kind == nil {
		return true, true
	}
	tried := r.reconciler.Try(ctx, before, o)
	return tried.Err != nil, tried.StatusErr != nil
}

// A readyCondition is the condition Ready of a resource.
type readyCondition struct {
	status, reason string
	observed       int64
	since          time.Time
}

// readiness reads the condition Ready; seen is false if there is none.
func readiness(o *unstructured.Unstructured) (ready readyCondition, seen bool) {
	c := status.Condition(o.Object, "Ready")
	if c == nil {
		return ready, false
	}
	ready.status, _ = c["status"].(string)
	ready.reason, _ = c["reason"].(string)
	since, _ := c["lastTransitionTime"].(string)
	ready.since, _ = time.Parse(time.RFC3339, since)
	var found bool
	if ready.observed, found = c["observedGeneration"].(int64); !found {
		ready.observed = o.GetGeneration() // the CRD does not declare it: nobody knows
	}
	return ready, true
}
