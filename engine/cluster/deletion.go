package cluster

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A child may be watched twice: as a child, and since a template reads it. One watch
// delivers its deletion first. A render that this causes must not be told by the other
// watch that the object exists, or it would make the same object again.

var errDeletionDue = fmt.Errorf("%w: another watch has delivered a deletion already", live.ErrNotYet)

// tellDeleted tells the other watches that an object is gone at a resourceVersion. It
// must be called without the mutex, and before this watch takes the deletion up.
func (k *kind) tellDeleted(l live.Object, version string) {
	if k.watches.deleted != nil {
		k.watches.deleted(l, version)
	}
}

func (w *watches) recordDeletion(l live.Object, version string) {
	for _, k := range w.allKinds() {
		if k.scope.GroupKind() == l.GVK.GroupKind() {
			k.recordDeletion(l, version)
		}
	}
}

// recordDeletion makes answers about an object wait until this watch has caught up with
// its deletion, if it shows the object, or has not listed yet.
func (k *kind) recordDeletion(l live.Object, version string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return
	}
	for _, s := range k.current.stores {
		if !s.coversNamespace(l.Meta.GetNamespace()) || isNumber(version) && !isNewer(version, s.passed) {
			continue
		}
		shown, found := s.items[l.Key()]
		if n, noted := k.overlay.entries[l.Key()]; noted {
			shown, found = n.live, true
		}
		switch {
		case found && shown.Meta.GetUID() == l.Meta.GetUID():
			k.overlay.putDeletion(shown, version)
		case !s.synced:
			k.overlay.putDeletion(l, version)
		}
	}
}

// deletionDue returns an error if an object of a group that matches is deleted, and this
// watch has not delivered that yet. It needs the mutex.
func (k *kind) deletionDue(g group, match func(live.Object) bool) error {
	for _, n := range k.overlay.deletions {
		if (g == (group{}) || slices.Contains(k.policy.groupsOf(n.live), g)) && match(n.live) {
			return errDeletionDue
		}
	}
	return nil
}

// missingFrom returns the objects of a store that are not in a complete list any more.
func (s *store) missingFrom(list []live.Object) (gone []live.Object) {
	s.watch.kind.mu.Lock()
	defer s.watch.kind.mu.Unlock()
	if !s.synced || s.watch.kind.watches.deleted == nil {
		return nil
	}
	listed := make(map[types.UID]bool, len(list))
	for _, l := range list {
		listed[l.Meta.GetUID()] = true
	}
	for _, l := range s.items {
		if !listed[l.Meta.GetUID()] {
			gone = append(gone, l)
		}
	}
	return gone
}
