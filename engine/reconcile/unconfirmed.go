package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A unconfirmedWrite is one that the server may have carried out without our knowing:
// the object may be there although the watch does not show it yet.
type unconfirmedWrite struct {
	scope cluster.Scope
	patch bool
}

// confirmWrites asks the server itself, before a resource goes, what became of the
// writes whose answer did not come: nobody would find it later.
func (t confirmer) confirmWrites(ctx context.Context) {
	t.suspectWrites()
	for _, child := range slices.SortedFunc(maps.Keys(t.memory.unconfirmed), plan.CompareRefs) {
		var err error
		if l := t.memory.unconfirmed[child]; l.patch {
			err = t.r.cluster.Reads.Resync(ctx, l.scope)
		} else {
			err = t.r.cluster.Children.Resync(ctx, l.scope.GroupVersionKind)
		}
		if err != nil && !errors.Is(err, live.ErrNotServed) { // what is not served took its objects along
			t.found.add(status.Problem{Severity: status.Retry, Reason: api.ReasonNotKnown, Message: "what is left is not known: " + err.Error()})
			t.retryLater()
			return
		}
		t.r.recordListed(t.memory.unconfirmed[child])
		delete(t.memory.unconfirmed, child)
	}
}

// askAlive asks the API server whether the resource is not being deleted. A child that is gone
// may have gone with its resource, whose deletion the cache does not show yet.
func (t confirmer) askAlive(ctx context.Context) error {
	served, found := t.r.cluster.Served().Resource(t.r.gvk)
	if !found {
		return &apply.Refusal{Cause: apply.Waits, Text: "the cluster does not have " + t.r.gvk.Kind + " any more"}
	}
	read := t.r.cluster.Writer.GetMetadata
	if k := t.subject.version.Kind; k == nil || len(k.Children) == 0 { // what makes no children may list its resources, and not get one
		read = t.r.cluster.Writer.Find
	}
	o, err := read(ctx, served, t.subject.resource.GetNamespace(), t.subject.resource.GetName())
	switch {
	case apierrors.IsNotFound(err), err == nil && o == nil:
	case err != nil:
		return fmt.Errorf("reading %s %s: %w", t.r.gvk.Kind, describePlace(t.subject.resource), err)
	case o.GetUID() != t.subject.resource.GetUID() || o.GetDeletionTimestamp() != nil:
	case t.r.tookOver() && !sameAs(o, t.subject.resource):
		return &apply.Refusal{Cause: apply.Waits, Text: "its resource changed meanwhile"}
	default:
		t.memory.lives = true
		return nil
	}
	return &apply.Refusal{Cause: apply.Waits, Text: "its resource is being deleted"}
}
