package reconcile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A pruning is a child that was to be deleted and is seen still.
type pruning struct {
	tries int
	// again is when to try again; zero: it was deleted.
	again   time.Time
	problem status.Problem
}

// prune deletes the children that were not rendered, but only after everything
// that was rendered is applied.
func (t *turn) prune(ctx context.Context, p *plan.Plan) {
	if p == nil || t.found.incomplete {
		return
	}
	maps.DeleteFunc(t.memory.pruned, func(uid types.UID, _ *pruning) bool {
		return !slices.ContainsFunc(p.Prune, func(l observe.Live) bool { return l.Meta.GetUID() == uid })
	})
	for _, l := range p.Prune {
		t.pruneOne(ctx, l, time.Now())
	}
}

// pruneOne deletes a child unless that was done or refused just now.
func (t *turn) pruneOne(ctx context.Context, l observe.Live, now time.Time) {
	done := t.memory.pruned[l.Meta.GetUID()]
	if done == nil {
		done = &pruning{}
		t.memory.pruned[l.Meta.GetUID()] = done
	} else if done.again.IsZero() {
		return
	}
	if !now.Before(done.again) {
		err := t.delete(ctx, l)
		if err == nil {
			done.again = time.Time{}
			return
		}
		done.problem = status.Problem{Severity: status.Retry, Reason: "PruneFailed", Message: err.Error()}
		done.again = now.Add(backOff(done.tries, 0, longWait))
		done.tries++
	}
	t.found.add(done.problem)
	t.found.again(done.again.Sub(now))
}

func (t *turn) delete(ctx context.Context, l observe.Live) error {
	served, found := t.cluster.Served().Resource(l.GVK)
	if !found {
		return nil
	}
	err := t.cluster.Writer.Delete(ctx, served, l.Meta)
	if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		applies.WithLabelValues(t.name, "prune").Inc()
		return nil
	}
	return fmt.Errorf("pruning %s %s/%s: %w", l.GVK.Kind, l.Meta.GetNamespace(), l.Meta.GetName(), apply.Understand(err, nil))
}
