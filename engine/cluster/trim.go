package cluster

import (
	"maps"
	"slices"
	"time"
)

// Trim drops the bodies of objects that nobody reads any more and ends the
// watches that nobody uses. Call it regularly: it costs no request.
func (r *Reads) Trim() {
	since := time.Now().Add(-r.patience)
	for _, k := range r.allKinds() {
		k.trimUnread(since)
	}
	r.syncAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	used := map[string]bool{}
	for scope := range r.kinds {
		used[scope.As] = true
	}
	maps.DeleteFunc(r.accounts, func(as string, _ clients) bool { return !used[as] })
}

// allKinds returns what is watched now.
func (w *watches) allKinds() []*kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Values(w.kinds))
}

// trimUnread drops what nobody has read since a time.
func (k *kind) trimUnread(since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.policy.(*readPolicy)
	i.forgetUnread(since)
	if k.current == nil || !k.current.listings {
		return
	}
	for _, f := range []*kindWatch{k.current, k.next} {
		if f == nil {
			continue
		}
		for _, s := range f.stores {
			for _, l := range s.items {
				if less := i.reduceObject(l, f.need); l.HasBody() && !less.HasBody() {
					s.putObject(less)
				}
			}
		}
	}
}
