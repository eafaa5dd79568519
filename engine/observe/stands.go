package observe

import "k8s.io/apimachinery/pkg/types"

// stands are what stands in for the watch until it has caught up: objects that
// a write answered. An entry ends when its watch has passed its
// resourceVersion, delivered the deletion of its uid, or listed anew since the
// entry was made; so none outlives one relist.
type stands struct {
	tick  uint64 // counts entries, to know which of them a list has seen
	notes map[types.NamespacedName]note
}

type note struct {
	live Live
	tick uint64
}

func newStands() stands {
	return stands{notes: map[types.NamespacedName]note{}}
}

func (t *stands) put(l Live) {
	t.tick++
	t.notes[l.key()] = note{live: l, tick: t.tick}
}

// delivered ends the note of an object whose resourceVersions cannot be
// compared; settle does it for the others.
func (t *stands) delivered(l Live) {
	if !numbered(l.Meta.GetResourceVersion()) {
		delete(t.notes, l.key())
	}
}

// deleted ends what is known of an object whose deletion was delivered.
func (t *stands) deleted(l Live) {
	if n, found := t.notes[l.key()]; found && n.live.Meta.GetUID() == l.Meta.GetUID() {
		delete(t.notes, l.key())
	}
}

// settle ends what the shard has caught up with.
func (t *stands) settle(s *shard) {
	for key, n := range t.notes {
		if !s.covers(key.Namespace) {
			continue
		}
		version := n.live.Meta.GetResourceVersion()
		if n.tick <= s.began || numbered(version) && !newer(version, s.passed) {
			delete(t.notes, key)
		}
	}
}

// covers says whether an object of this namespace comes through this shard.
func (s *shard) covers(namespace string) bool {
	return s.namespace == "" || s.namespace == namespace
}
