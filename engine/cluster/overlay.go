package cluster

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// writeOverlay are what stands in for the watch until it has caught up: objects that
// a write answered. An entry ends when its watch has passed its
// resourceVersion, delivered the deletion of its uid, or listed again since the
// entry was made; so none outlives one relist.
type writeOverlay struct {
	tick    uint64 // counts entries, to know which of them a list has seen
	entries map[types.NamespacedName]overlayEntry
	// deletions are objects whose deletion another watch has delivered. Until this one
	// has caught up, it is not known whether they exist.
	deletions map[types.NamespacedName]overlayEntry
}

// An overlayEntry is an object, and the resourceVersion that the watch has to pass.
type overlayEntry struct {
	live    live.Object
	version string
	tick    uint64
}

func newWriteOverlay() writeOverlay {
	return writeOverlay{entries: map[types.NamespacedName]overlayEntry{}, deletions: map[types.NamespacedName]overlayEntry{}}
}

// putEntry records an object as a write was answered.
func (t *writeOverlay) putEntry(l live.Object) {
	t.tick++
	t.entries[l.Key()] = overlayEntry{live: l, version: l.Meta.GetResourceVersion(), tick: t.tick}
}

// putDeletion records that an object was deleted at a resourceVersion, or before.
func (t *writeOverlay) putDeletion(l live.Object, version string) {
	t.tick++
	t.deletions[l.Key()] = overlayEntry{live: l, version: version, tick: t.tick}
}

// dropDelivered drops the entry of an object whose resourceVersions cannot be compared. The method
// dropSettled does it for the others.
func (t *writeOverlay) dropDelivered(l live.Object) {
	if !isNumber(l.Meta.GetResourceVersion()) {
		delete(t.entries, l.Key())
		delete(t.deletions, l.Key())
	}
}

// dropDeleted drops what is known of an object whose deletion was delivered.
func (t *writeOverlay) dropDeleted(l live.Object) {
	for _, of := range []map[types.NamespacedName]overlayEntry{t.entries, t.deletions} {
		if n, found := of[l.Key()]; found && n.live.Meta.GetUID() == l.Meta.GetUID() {
			delete(of, l.Key())
		}
	}
}

// dropSettled drops what the store has caught up with, and returns the objects of which it is known
// again whether they exist.
func (t *writeOverlay) dropSettled(s *store) (known []live.Object) {
	maps.DeleteFunc(t.entries, func(_ types.NamespacedName, n overlayEntry) bool { return n.isSettled(s) })
	maps.DeleteFunc(t.deletions, func(_ types.NamespacedName, n overlayEntry) bool {
		if !n.isSettled(s) {
			return false
		}
		known = append(known, n.live)
		return true
	})
	return known
}

// isSettled reports whether the store has caught up with an entry.
func (n overlayEntry) isSettled(s *store) bool {
	return s.coversNamespace(n.live.Meta.GetNamespace()) && (n.tick <= s.began || isNumber(n.version) && !isNewer(n.version, s.passed))
}

// coversNamespace reports whether an object of this namespace comes through this store.
func (s *store) coversNamespace(namespace string) bool {
	return s.namespace == "" || s.namespace == namespace
}
