package reconcile

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// TestBusyServer: what a busy server could not take is sent later each time, not before the
// server wants it. Content that it refused delays nothing, and a success ends the delay.
func TestBusyServer(t *testing.T) {
	a, now := plan.Attempts{}, time.Now()
	next := func() time.Time { return a[plan.Key{Operation: plan.OpStatus}].Next }
	blocked := func(at time.Time) bool { return a.Blocking(plan.Key{Operation: plan.OpStatus}, "", at) != nil }
	busy := &refusals.Refusal{Cause: refusals.TryAgain, RetryAfter: 5 * time.Second, Err: apierrors.NewTooManyRequests("busy", 5)}
	recordBusy(a, plan.OpStatus, busy, now)
	first := next().Sub(now)
	if !blocked(now) || first < 5*time.Second || blocked(next()) {
		t.Errorf("the first delay is %v", first)
	}
	now = next()
	recordBusy(a, plan.OpStatus, busy, now)
	if second := next().Sub(now); second <= first {
		t.Errorf("the delays are %v and %v", first, second)
	}
	recordBusy(a, plan.OpStatus, nil, now)
	if len(a) > 0 {
		t.Errorf("it goes on: %v", a)
	}
	recordBusy(a, plan.OpStatus, &refusals.Refusal{Cause: refusals.Invalid, Err: apierrors.NewInvalid(schema.GroupKind{}, "a", nil)}, now)
	if blocked(now) {
		t.Error("refused content delays what comes next")
	}
}

// TestNothingIsKept: of resources that are gone nothing is kept in memory, whatever was
// known of them.
func TestNothingIsKept(t *testing.T) {
	w := newWorld(t, map[string]string{"kind.yaml": nodes, "one.yaml": oneMap, "node.yaml": oneNode})
	for range 3 {
		w.settle()
		w.r.Arrived(w.resource)
		w.server.Delete(w.resource)
		w.r.ObserveDeletion(w.server.Get(thingKind, "default", "a"))
		w.now = time.Now()
		w.settle()
		w.r.Gone(w.resource)
		w.turn()
		r := w.r
		if n := len(r.memories) + len(r.names) + len(r.deletions) + len(r.pendingResources.names) + len(r.eventAt) + len(r.arrivals); n > 0 {
			t.Errorf("%v, %v, %v, %v, %v and %v are known still", r.memories, r.names, r.deletions, r.pendingResources.names, r.eventAt, r.arrivals)
		}
		made := w.resource.DeepCopy()
		made.SetUID("")
		made.SetResourceVersion("")
		made.SetFinalizers(nil)
		w.resource = w.server.Change(made, "person", nil)
	}
}
