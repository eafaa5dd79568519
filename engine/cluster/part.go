package cluster

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Part is some of the objects of a kind: those whose owners this process serves, while
// other replicas serve others. The zero Part is all of them.
type Part struct {
	// Name tells parts apart.
	Name string
	// IsEmpty: it has no objects, and nothing is listed or watched.
	IsEmpty bool
	// Has reports whether an object is of the part, by the resource that it belongs to: of a
	// child the owner that it names and the uid that it wears; nil: all are.
	Has func(of api.Owner, uid types.UID) bool
}

// wantsOwnerOf reports whether an object is of the part that is watched.
func (f *kindWatch) wantsOwnerOf(l live.Object) bool {
	if f.part.Has == nil {
		return true
	}
	whose := f.kind.policy.ownerOf(l)
	return f.part.Has(whose.of, whose.uid)
}

// wantsListed is wantsOwnerOf for an object that may have gone through a list, where just a stub of
// it is kept, or what leftOut makes.
func (f *kindWatch) wantsListed(l live.Object) bool {
	return f.part.Has == nil || !isLeft(l) && (isStub(l) || f.wantsOwnerOf(l))
}

// leftOut returns what stands for an object that is not of the part while a list streams in: a
// reflector's store must have something.
func leftOut(l live.Object) live.Object {
	l = stubOf(l)
	l.Meta.SetLabels(nil)
	return l
}

// isLeft reports whether an object was left out: every other one has labels.
func isLeft(l live.Object) bool { return isStub(l) && l.Meta.GetLabels() == nil }

// Divide takes up that other parts are wanted. What is known stays known until its
// successor has been listed.
func (w *watches) Divide() { w.syncAll() }

// Wanted is the part of a kind that is wanted now.
func (c *Children) Wanted(gvk schema.GroupVersionKind) Part {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.options.Part == nil {
		return Part{}
	}
	return c.options.Part(gvk, c.holdersOf(Scope{GroupVersionKind: gvk}))
}

// Divided reports whether a kind is known by the part of that name, or why it is not known
// stands in its State.
func (c *Children) Divided(gvk schema.GroupVersionKind, name string) bool {
	k := c.kindOf(gvk)
	if k == nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.current == nil || k.current.part.Name == name && (k.current.listings || k.stateIn().Err != nil) ||
		k.next != nil && k.next.part.Name == name && k.next.troubleIn() != nil
}
