package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An inFlight knows what may still be written: by reconciliations that are running, and by requests
// that got no response. The zero value is ready to use.
type inFlight struct {
	mu sync.Mutex
	// running has the ticks at which running reconciliations began, before they chose a version.
	running map[uint64]bool
	// unanswered is when a write of a kind got no response last.
	unanswered map[schema.GroupKind]time.Time
}

// beginReconciliation records that a reconciliation begins; end must be called when it has ended.
func (f *inFlight) beginReconciliation(tick uint64) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running == nil {
		f.running = map[uint64]bool{}
	}
	f.running[tick] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, tick)
	}
}

// recordUnanswered records that a write of a kind got no response.
func (f *inFlight) recordUnanswered(gk schema.GroupKind, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unanswered == nil {
		f.unanswered = map[schema.GroupKind]time.Time{}
	}
	f.unanswered[gk] = now
}

// IsRunningSince reports whether a reconciliation is running that began before a tick. It may
// still write what a version makes that served then.
func (f *inFlight) IsRunningSince(tick uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for began := range f.running {
		if began < tick {
			return true
		}
	}
	return false
}

// recent is for how long a write of the operator before this one, or a write without a
// response, may still come into effect.
const recent = 5 * time.Minute

// Tick returns a point in the order of what happens in this process.
func (r *Reconciler) Tick() uint64 { return r.ticks.Add(1) }

// MayStillWrite reports whether an object of a kind may still be written by a request that got no
// response, or by the operator before this one.
func (r *Reconciler) MayStillWrite(gk schema.GroupKind) bool {
	r.inFlight.mu.Lock()
	defer r.inFlight.mu.Unlock()
	now, at := r.now(), r.inFlight.unanswered[gk]
	return !at.IsZero() && now.Sub(at) < recent || now.Sub(r.leadsSince) < recent
}
