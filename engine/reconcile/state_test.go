package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestBackOff: pauses grow up to a bound, and are never shorter than what a
// server asked for, however long that is.
func TestBackOff(t *testing.T) {
	for _, c := range []struct {
		tries                int
		atLeast, most, least time.Duration
	}{
		{0, 0, longWait, firstWait},
		{3, 0, longWait, 8 * firstWait},
		{30, 0, longWait, longWait},
		{2, 10 * time.Second, longWait, 40 * time.Second},
		{0, 10 * time.Minute, longWait, 10 * time.Minute},
		{1, 10 * time.Minute, longWait, 10 * time.Minute},
		{30, 10 * time.Minute, longWait, 10 * time.Minute},
	} {
		if got := backOff(c.tries, c.atLeast, c.most); got < c.least || got > c.least*6/5 {
			t.Errorf("after %d tries, at least %s, at most %s: %s, want %s and a fifth", c.tries, c.atLeast, c.most, got, c.least)
		}
	}
}

// TestForgive: a write that failed is not tried at once again because its file
// waited for a reconciliation.
func TestForgive(t *testing.T) {
	m, now := newResourceState(&unstructured.Unstructured{}), time.Now()
	m.failures.recordFailed("a", "hash", status.Problem{}, retry{now: now, most: longWait})
	m.failures.clearFailed(map[string]bool{}, now)
	if m.failures.due("a", "hash", now) == nil {
		t.Error("it is due at once")
	}
	m.failures.clearFailed(map[string]bool{}, now.Add(longWait))
	if len(m.failures.failedWrites) > 0 {
		t.Error("it is kept")
	}
}

// TestDue: what failed is not sent again before its time, but other content is,
// and so is what would be sent for another object.
func TestDue(t *testing.T) {
	m, now := newResourceState(&unstructured.Unstructured{}), time.Now()
	m.failures.recordFailed("a", "hash", status.Problem{}, retry{now: now, most: longWait})
	m.failures.recordFailed("refused", "hash", status.Problem{}, retry{now: now})
	for name, c := range map[string]struct {
		key, hash string
		after     time.Duration
		waits     bool
	}{
		"the same, at once":       {"a", "hash", 0, true},
		"the same, later":         {"a", "hash", longWait, false},
		"other content":           {"a", "other", 0, false},
		"another child":           {"b", "hash", 0, false},
		"refused for its content": {"refused", "hash", time.Hour, true},
		"refused, other content":  {"refused", "other", 0, false},
	} {
		if got := m.failures.due(c.key, c.hash, now.Add(c.after)) != nil; got != c.waits {
			t.Errorf("%s: it waits: %v, want %v", name, got, c.waits)
		}
	}
}

// TestNothingIsKept: of resources that are gone nothing is kept in memory, whatever was
// known of them.
func TestNothingIsKept(t *testing.T) {
	w := newWorld(t, map[string]string{"kind.yaml": nodes, "one.yaml": oneMap, "node.yaml": oneNode})
	for range 3 {
		w.settle()
		w.r.Reassigned(w.resource)
		w.server.Delete(w.resource)
		w.r.ObserveDeletion(w.server.Get(thingKind, "default", "a"))
		w.now = time.Now()
		w.settle()
		w.r.Gone(w.resource)
		w.turn()
		r := w.r
		if n := len(r.known) + len(r.names) + len(r.deletions) + len(r.pending) + len(r.woken) + len(r.reassigned); n > 0 {
			t.Errorf("%v, %v, %v, %v, %v and %v are known still", r.known, r.names, r.deletions, r.pending, r.woken, r.reassigned)
		}
		made := w.resource.DeepCopy()
		made.SetUID("")
		made.SetResourceVersion("")
		made.SetFinalizers(nil)
		w.resource = w.server.Change(made, "person", nil)
	}
}
