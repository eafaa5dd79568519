package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The eventTimes are the times when the first event came for each resource that waits to be
// reconciled.
type eventTimes struct {
	mu      sync.Mutex
	eventAt map[types.NamespacedName]time.Time
}

// NoteEvent records that an event enqueued a resource, unless it waits already.
func (w *eventTimes) NoteEvent(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.eventAt == nil {
		w.eventAt = map[types.NamespacedName]time.Time{}
	}
	if w.eventAt[name].IsZero() {
		w.eventAt[name] = time.Now()
	}
}

// OldestEvent returns when the first event came for a resource that waits; zero if none does.
func (w *eventTimes) OldestEvent() (first time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.eventAt {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// ForgetEvent records that a resource does not wait any more.
func (w *eventTimes) ForgetEvent(name types.NamespacedName) { w.takeEventTime(name) }

// takeEventTime returns when the first event came for a resource that is reconciled now; zero if no event did.
func (w *eventTimes) takeEventTime(name types.NamespacedName) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.eventAt[name]
	delete(w.eventAt, name)
	return at
}

// restoreEventTime lets a resource wait since the time that takeEventTime returned.
func (w *eventTimes) restoreEventTime(name types.NamespacedName, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.eventAt[name] = at
}

// forgetEventTimes forgets all resources.
func (w *eventTimes) forgetEventTimes() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.eventAt)
}
