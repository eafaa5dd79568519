package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestIsRunningSince: a reconciliation that began before something may still act on what was
// before; one that began later does not.
func TestIsRunningSince(t *testing.T) {
	r := New("things.example.com", schema.GroupVersionKind{}, nil, Cluster{})
	end := r.beginReconciliation(r.Tick())
	since := r.Tick()
	defer r.beginReconciliation(r.Tick())()
	if !r.IsRunningSince(since) {
		t.Error("the first one is running")
	}
	if end(); r.IsRunningSince(since) {
		t.Error("the first one has ended")
	}
}

// TestMayStillWrite: a request without a response, and what an operator before this one has sent,
// may come into effect for a while.
func TestMayStillWrite(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	secret, node := schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Kind: "Node"}
	r := New("things.example.com", schema.GroupVersionKind{}, nil, Cluster{})
	r.now = func() time.Time { return now }
	r.inFlight.recordUnanswered(secret, now)
	if !r.MayStillWrite(secret) || r.MayStillWrite(node) {
		t.Error("the request that got no response was about a Secret")
	}
	now = now.Add(recent)
	if r.MayStillWrite(secret) {
		t.Error("it may not come into effect any more")
	}
	r.TookOver(now)
	if !r.MayStillWrite(node) {
		t.Error("the operator before may have sent anything")
	}
}
