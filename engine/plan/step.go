package plan

import "github.com/jacquard-operator/jacquard/engine/status"

// markBlocked turns a step into a Block, for a reason that the status reports.
func (s *Step) markBlocked(p status.Problem) {
	s.Action, s.Why = Block, p.Message
	p.Message, p.File = s.Name()+": "+p.Message, s.Place()
	s.Problem = &p
}

// Name returns "Kind namespace/name", or "Kind name".
func (s *Step) Name() string { return RefOfObject(s.Document).String() }

// Ref refers to the child, or to the patch of an object that belongs to others.
func (s *Step) Ref() Ref {
	ref := RefOfObject(s.Document)
	ref.IsPatch, ref.Subresource = s.Child.Policy.Patch, s.Child.Policy.Subresource
	return ref
}

// Key returns the key of attempts at the step: creating the child, changing this object, or
// recreating the child, which backs off whichever object it is.
func (s *Step) Key() Key {
	switch {
	case s.Action == Recreate:
		return s.RecreateKey()
	case s.Live != nil:
		return Key{Operation: OpWrite, Ref: s.Ref(), UID: s.Live.Meta.GetUID()}
	}
	return Key{Operation: OpWrite, Ref: s.Ref()}
}

// RecreateKey returns the key of attempts to recreate the child.
func (s *Step) RecreateKey() Key { return Key{Operation: OpRecreate, Ref: s.Ref()} }

// IsComplete reports whether everything that is rendered exists once the steps have
// succeeded: nothing is blocked, refused or backing off.
func (p *Plan) IsComplete() bool {
	for i := range p.Steps {
		if a := p.Steps[i].Action; a == Block || a == Refuse || a == BackOff {
			return false
		}
	}
	return true
}
