package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// Trim drops the bodies of objects that nobody reads any more and ends the
// watches that nobody uses. Call it regularly: it costs no request.
func (r *Reads) Trim() {
	since := time.Now().Add(-r.patience)
	for _, k := range r.all() {
		k.trim(since)
	}
	r.sync()
	r.mu.Lock()
	defer r.mu.Unlock()
	used := map[string]bool{}
	for scope := range r.kinds {
		used[scope.As] = true
	}
	maps.DeleteFunc(r.accounts, func(as string, _ clients) bool { return !used[as] })
}

// all returns what is watched now.
func (w *watches) all() []*kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.kinds))
}

func (k *kind) trim(since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.policy.(*readPolicy)
	i.forget(since)
	if k.current == nil || !k.current.listings {
		return
	}
	for _, f := range []*kindWatch{k.current, k.next} {
		if f == nil {
			continue
		}
		for _, s := range f.stores {
			for _, l := range s.items {
				if l.Body != nil && i.keep(l, live.Body).Body == nil {
					s.put(i.keep(l, live.Body))
				}
			}
		}
	}
}
