package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A lostWrite is one that the server may have carried out without our knowing:
// the object may be there although the watch does not show it yet.
type lostWrite struct {
	scope observe.Scope
	patch bool
}

// noteLost remembers a write whose answer did not come, until one did.
func (w *write) noteLost(err error) {
	if err == nil {
		delete(w.memory.lost, w.child())
	} else if apply.Understand(err, nil).Cause == apply.TryAgain {
		w.memory.lost[w.child()] = lostWrite{observe.Scope{GroupVersionKind: w.Document.GroupVersionKind()}, w.Action == plan.Patch}
	}
}

// findLost asks the server itself, before a resource goes, what became of the
// writes whose answer did not come: nobody would find it later.
func (t *turn) findLost(ctx context.Context) {
	t.suspect()
	for _, child := range slices.Sorted(maps.Keys(t.memory.lost)) {
		var err error
		if l := t.memory.lost[child]; l.patch {
			err = t.cluster.Reads.Look(ctx, l.scope)
		} else {
			err = t.cluster.Children.Look(ctx, l.scope.GroupVersionKind)
		}
		if err != nil && !errors.Is(err, observe.ErrNotServed) { // what is not served took its objects along
			t.found.add(status.Problem{Severity: status.Retry, Reason: "NotKnown", Message: "what is left is not known: " + err.Error()})
			t.found.again(backOff(t.memory.tries, 0, longWait))
			t.memory.tries++
			return
		}
		t.sure(t.memory.lost[child])
		delete(t.memory.lost, child)
	}
}

// lives asks the server itself, once a turn, whether the resource is there to
// stay. A child that went may have gone with its resource, whose deletion the
// cache does not show yet.
func (t *turn) lives(ctx context.Context) error {
	t.asking.Do(func() { t.alive = t.askLives(ctx) })
	return t.alive
}

func (t *turn) askLives(ctx context.Context) error {
	served, found := t.cluster.Served().Resource(t.gvk)
	if !found {
		return soon("the cluster does not have " + t.gvk.Kind + " any more")
	}
	o, err := t.cluster.Writer.Whose(ctx, served, t.resource.GetNamespace(), t.resource.GetName())
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading %s %s: %w", t.gvk.Kind, place(t.resource), err)
	case o.GetUID() != t.resource.GetUID() || o.GetDeletionTimestamp() != nil:
	case t.inherits() && !sameAs(o, t.resource):
		return soon("its resource changed meanwhile")
	default:
		t.memory.lives.Store(true)
		return nil
	}
	return soon("its resource is being deleted")
}
