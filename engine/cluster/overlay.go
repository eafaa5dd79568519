package cluster

import (
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
}

type overlayEntry struct {
	live live.Object
	tick uint64
}

func newWriteOverlay() writeOverlay {
	return writeOverlay{entries: map[types.NamespacedName]overlayEntry{}}
}

func (t *writeOverlay) put(l live.Object) {
	t.tick++
	t.entries[l.Key()] = overlayEntry{live: l, tick: t.tick}
}

// delivered ends the note of an object whose resourceVersions cannot be
// compared; settle does it for the others.
func (t *writeOverlay) delivered(l live.Object) {
	if !numbered(l.Meta.GetResourceVersion()) {
		delete(t.entries, l.Key())
	}
}

// deleted ends what is known of an object whose deletion was delivered.
func (t *writeOverlay) deleted(l live.Object) {
	if n, found := t.entries[l.Key()]; found && n.live.Meta.GetUID() == l.Meta.GetUID() {
		delete(t.entries, l.Key())
	}
}

// settle ends what the store has caught up with.
func (t *writeOverlay) settle(s *store) {
	for key, n := range t.entries {
		if !s.covers(key.Namespace) {
			continue
		}
		version := n.live.Meta.GetResourceVersion()
		if n.tick <= s.began || numbered(version) && !newer(version, s.passed) {
			delete(t.entries, key)
		}
	}
}

// covers reports whether an object of this namespace comes through this store.
func (s *store) covers(namespace string) bool {
	return s.namespace == "" || s.namespace == namespace
}
