package cluster

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/live"
)

var errUndiscovered = fmt.Errorf("%w: discovery has not answered yet", live.ErrNotYet)

// syncAll brings the kinds that are watched in line with what is wanted and served.
func (w *watches) syncAll() {
	w.mu.Lock()
	wanted := map[Scope]live.Need{}
	for _, scopes := range w.holders {
		for scope, need := range scopes {
			wanted[scope] = wanted[scope].Merge(need)
		}
	}
	for scope, k := range w.kinds {
		held, isHeld := wanted[scope]
		if need, isUsed := k.releaseUnused(isHeld); isUsed {
			wanted[scope] = held.Merge(need)
		} else if !isHeld {
			delete(w.kinds, scope)
		}
	}
	tell := []func(){}
	for scope, need := range wanted {
		k := w.kinds[scope]
		if k == nil {
			k = w.begin(scope)
			w.kinds[scope] = k
		}
		if w.isLive() {
			tell = append(tell, k.syncLocked(need, w.served()))
		}
	}
	w.mu.Unlock()
	for _, t := range tell {
		t()
	}
}

// releaseUnused ends what is neither held nor used. Otherwise it returns how much queries use.
func (k *kind) releaseUnused(isHeld bool) (need live.Need, used bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if need, used = k.policy.neededNow(); !used && !isHeld {
		k.forgetAll()
		k.ended = true
	}
	return need, used
}

// syncLocked brings the watches of one kind in line. The function that it returns notifies about
// it. The caller must hold the mutex of the watches.
func (k *kind) syncLocked(need live.Need, served *Served) func() {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.stateIn()
	r, found := served.Resource(k.scope.GroupVersionKind)
	k.phase, k.unknown = live.Unsynced, served.Doubt(k.scope.GroupVersionKind)
	switch {
	case k.broken != nil:
		k.unknown = k.broken
	case !found && k.unknown == nil:
		k.phase = live.NotServed
		k.forgetAll()
	case !found:
	case checkWatchable(r) != nil:
		k.unknown = checkWatchable(r)
		k.forgetAll()
	default:
		k.run(need, r)
	}
	o, after := k.newNotifications(), k.stateIn()
	o.addTransition(before, after)
	if errorText(before.Err) == errUndiscovered.Error() && after.Err == nil {
		o.troubled = false
	}
	return func() { k.sendNotifications(o) }
}

// run starts or replaces the watch where it does not give what is needed.
func (k *kind) run(need live.Need, r live.Resource) {
	if k.current != nil && (k.current.resource.GVR != r.GVR || k.current.resource.Namespaced != r.Namespaced) {
		k.forgetAll()
	}
	gives := func(f *kindWatch) bool { return f.need == need && f.part.Name == k.wantedPart().Name }
	if before := k.current; before != nil && !before.listings && !gives(before) {
		before.stop()
		k.current = k.start(need, r)
		k.current.inheritTroubles(before)
	}
	if k.next != nil && !gives(k.next) {
		k.next.stop()
		k.next = nil
	}
	switch {
	case k.current == nil:
		k.current = k.start(need, r)
	case !gives(k.current) && k.next == nil:
		k.next = k.start(need, r)
	}
}
