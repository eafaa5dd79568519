package cluster

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A storePolicy knows what is special about the objects of one kind: whether they
// are children or what templates read. All of it runs under the kind's mutex,
// but for tell and synced, which run under none.
type storePolicy interface {
	// keep returns as much of an object as is kept.
	reduceObject(l live.Object, need live.Need) live.Object
	// groups are what an object is found by, besides its name.
	groupsOf(l live.Object) []group
	// concerned are those whom it concerns that the object is, or was, so.
	ownersOf(l live.Object) []owner
	// everybody are those whom it concerns that the kind came to be known, or
	// is known no longer.
	allReaders() []owner
	// used reports whether the kind is needed though no holder wants it.
	neededNow() (live.Need, bool)

	notifyOwner(whose owner)
	notifySynced(scope Scope)
	notifyTroubled(scope Scope)
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
