package cluster

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/live"
)

var errUndiscovered = fmt.Errorf("%w: discovery has not answered yet", live.ErrNotYet)

// sync brings the kinds that are watched in line with what is wanted and
// served.
func (w *watches) sync() {
	w.mu.Lock()
	wanted := map[Scope]live.Need{}
	for _, scopes := range w.holders {
		for scope, need := range scopes {
			wanted[scope] = wanted[scope].Merge(need)
		}
	}
	for scope, k := range w.kinds {
		if _, still := wanted[scope]; still {
			continue
		}
		if need, used := k.release(); used {
			wanted[scope] = need
		} else {
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
		if w.live() {
			tell = append(tell, k.sync(need, w.served()))
		}
	}
	w.mu.Unlock()
	for _, t := range tell {
		t()
	}
}

// release ends what nobody uses; otherwise it says how much is needed.
func (k *kind) release() (need live.Need, used bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if need, used = k.policy.used(); !used {
		k.forget()
		k.ended = true
	}
	return need, used
}

// sync brings the watches of one kind in line; the function that it returns
// tells about it. It needs the mutex of the watches.
func (k *kind) sync(need live.Need, served *Served) func() {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.state()
	r, found := served.Resource(k.scope.GroupVersionKind)
	k.phase, k.unknown = live.Unsynced, served.Doubt(k.scope.GroupVersionKind)
	switch {
	case k.broken != nil:
		k.unknown = k.broken
	case !found && k.unknown == nil:
		k.phase = live.NotServed
		k.forget()
	case !found:
	case watchable(r) != nil:
		k.unknown = watchable(r)
		k.forget()
	default:
		k.run(need, r)
	}
	o, after := k.notifications(), k.state()
	o.turned(before, after)
	if text(before.Err) == errUndiscovered.Error() && after.Err == nil {
		o.troubled = false
	}
	return func() { k.notified(o) }
}

// run starts or replaces the watch where it does not give what is needed.
func (k *kind) run(need live.Need, r live.Resource) {
	if k.current != nil && (k.current.resource.GVR != r.GVR || k.current.resource.Namespaced != r.Namespaced) {
		k.forget()
	}
	gives := func(f *kindWatch) bool { return f.need == need && f.part.Name == k.wanted().Name }
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
