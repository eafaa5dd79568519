package cluster

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A storePolicy knows what is special about the objects of one kind: whether they are
// resources, children, or what templates read. All of it runs under the kind's mutex,
// but for the notify methods, which run under none.
type storePolicy interface {
	// reduceObject returns as much of an object as is kept.
	reduceObject(l live.Object, need live.Need) live.Object
	// groupsOf returns what an object is found by, besides its name.
	groupsOf(l live.Object) []group
	// ownerOf returns the resource that an object belongs to, by which parts are told apart.
	ownerOf(l live.Object) owner
	// noteChange adds to notifications what follows from a change of an object.
	noteChange(o *notifications, c Change)
	// allReaders returns those whom it concerns that the kind came to be known, or is known
	// no longer.
	allReaders() []owner
	// neededNow reports whether the kind is needed though no holder wants it.
	neededNow() (live.Need, bool)

	notifyOwner(whose owner)
	notifyChange(c Change)
	notifySynced(scope Scope)
	notifyTroubled(scope Scope)
}

// A Change is an object before and after it changed. The zero Object means that there was, or is,
// none.
type Change struct {
	Before, After live.Object
	// IsFirst: it was in the first list.
	IsFirst bool
}

// Key returns the namespace and name of the object.
func (c Change) Key() types.NamespacedName { return c.bothSides()[0].Key() }

// bothSides returns the objects that there are, before and after.
func (c Change) bothSides() (all []live.Object) {
	for _, l := range []live.Object{c.Before, c.After} {
		if l.Meta != nil {
			all = append(all, l)
		}
	}
	return all
}

// A group is what objects are found by: their namespace, or a uid that they
// carry.
type group struct {
	namespace string
	uid       types.UID
}

// An owner is whom an object concerns: a custom resource by its name, its uid,
// or both.
type owner struct {
	of  api.Owner
	uid types.UID
}
