package plan

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// Orphaning is the decision whether the children of a resource outlive its deletion. It is
// made once, before anything is deleted. A later pass could not repeat it: the children
// that contradict a forged one may be gone by then.
type Orphaning string

const (
	// OrphaningUnknown means that too little is known for the decision.
	OrphaningUnknown Orphaning = ""
	// OrphanRequested means that whoever deletes the resource keeps its children.
	OrphanRequested Orphaning = "true"
	// OrphanInferred means that the garbage collector appears to have orphaned the children.
	OrphanInferred Orphaning = "inferred"
	// NotOrphaned means that the children are deleted.
	NotOrphaned Orphaning = "false"
)

// Record returns the value of the annotation jacquard.dev/orphaned. It contains the uid of
// the resource, so that a restored copy is not bound by it.
func (o Orphaning) Record(uid types.UID) string { return string(o) + "/" + string(uid) }

// ParseOrphaning reads that value. A record of another resource is OrphaningUnknown.
func ParseOrphaning(record string, uid types.UID) Orphaning {
	for _, o := range []Orphaning{OrphanRequested, OrphanInferred, NotOrphaned} {
		if record == o.Record(uid) {
			return o
		}
	}
	return OrphaningUnknown
}

// decideOrphaning returns the decision of an earlier pass, or decides. In a foreground
// deletion the garbage collector deletes the children, so that nothing can be inferred from
// those that are left.
func (in *Input) decideOrphaning() Orphaning {
	switch {
	case in.Owner.Keeps, in.Propagation == metav1.DeletePropagationOrphan:
		return OrphanRequested
	case in.RecordedOrphaning != OrphaningUnknown:
		return in.RecordedOrphaning
	case in.Propagation == metav1.DeletePropagationForeground, slices.ContainsFunc(in.Live, in.refutesOrphaning):
		return NotOrphaned
	case in.KindsUnknown:
		return OrphaningUnknown
	case in.wereOrphaned():
		return OrphanInferred
	}
	return NotOrphaned
}

// refutesOrphaning reports whether a child refers to the resource, although the garbage
// collector reaches it: it takes the references off all children that it orphans.
func (in *Input) refutesOrphaning(l live.Object) bool {
	return garbageCollectable(in.Owner, l.Meta.GetNamespace()) && wasReported(in.Reported, RefOf(l)) && refersTo(l.Meta, in.Owner.UID)
}

// wereOrphaned reports whether the garbage collector appears to have orphaned the children:
// there are some that it reaches, none of them refers to the resource, and all that the
// status names exist. Objects that the status does not name could be forged by anybody.
func (in *Input) wereOrphaned() bool {
	orphaned := 0
	exists := map[Ref]bool{}
	for _, l := range in.Live {
		ref := RefOf(l)
		if !garbageCollectable(in.Owner, l.Meta.GetNamespace()) || !wasReported(in.Reported, ref) {
			continue
		}
		exists[ref] = true
		if lacksReference(in.Owner, l) {
			orphaned++
		}
	}
	for ref, existed := range in.Reported {
		if existed && garbageCollectable(in.Owner, ref.Namespace) && !exists[ref] {
			return false
		}
	}
	return orphaned > 0
}

// wasReported reports whether the status names an object, or may name it.
func wasReported(reported map[Ref]bool, r Ref) bool {
	_, found := reported[r]
	return found || reported == nil
}

// lacksReference reports whether an object is a child of the owner in all but a reference,
// by which the garbage collector would find it.
func lacksReference(owner Owner, l live.Object) bool {
	return garbageCollectable(owner, l.Meta.GetNamespace()) && !isKept(l.Meta) && controllerOf(l.Meta) == nil &&
		!refersTo(l.Meta, owner.UID) &&
		l.Meta.GetAnnotations()[api.AnnotationOwner] == owner.String() && wasApplied(l.Meta)
}

// ReferencesFit reports whether the garbage collector would delete or keep the children of
// an owner as it should: all that it reaches refer to the owner, or none if it keeps them.
func ReferencesFit(owner Owner, children []live.Object) bool {
	return !slices.ContainsFunc(children, func(l live.Object) bool {
		if owner.Keeps {
			return refersTo(l.Meta, owner.UID)
		}
		return lacksReference(owner, l)
	})
}

// refersTo reports whether an object refers to an owner, as its controller or not.
func refersTo(o metav1.Object, owner types.UID) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner })
}
