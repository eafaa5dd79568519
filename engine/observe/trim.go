package observe

import (
	"maps"
	"slices"
	"time"
)

// Trim drops the bodies of objects that nobody reads and ends the watches that
// nobody uses. Call it when the readers have had time to record themselves
// after the first lists, and then regularly: it costs no request.
func (r *Reads) Trim() {
	since := time.Now().Add(-r.patience)
	for _, k := range r.all() {
		k.trim(since)
	}
	r.settle()
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
	i := k.keeper.(*interests)
	i.forget(since)
	if k.current == nil || !k.current.listings {
		return
	}
	i.trimmed = true
	for _, f := range []*feed{k.current, k.next} {
		if f == nil {
			continue
		}
		for _, s := range f.shards {
			for _, l := range s.items {
				if l.Body != nil && i.keep(l, Body).Body == nil {
					s.put(i.keep(l, Body))
				}
			}
		}
	}
}
