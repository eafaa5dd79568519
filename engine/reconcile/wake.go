package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The wakeTimes are the times when the first event came for each resource that waits to be
// reconciled.
type wakeTimes struct {
	mu    sync.Mutex
	woken map[types.NamespacedName]time.Time
}

// Wake records that an event enqueued a resource, unless it waits already.
func (w *wakeTimes) Wake(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woken == nil {
		w.woken = map[types.NamespacedName]time.Time{}
	}
	if w.woken[name].IsZero() {
		w.woken[name] = time.Now()
	}
}

// Oldest returns when the first event came for a resource that waits; zero if none does.
func (w *wakeTimes) Oldest() (first time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.woken {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// Leave records that a resource does not wait any more.
func (w *wakeTimes) Leave(name types.NamespacedName) { w.takeWoken(name) }

// takeWoken returns when a resource was woken that is reconciled now; zero if no event did.
func (w *wakeTimes) takeWoken(name types.NamespacedName) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.woken[name]
	delete(w.woken, name)
	return at
}

// restoreWoken lets a resource wait since the time that takeWoken returned.
func (w *wakeTimes) restoreWoken(name types.NamespacedName, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken[name] = at
}

// forgetWoken forgets all resources.
func (w *wakeTimes) forgetWoken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.woken)
}
