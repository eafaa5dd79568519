package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// RecreateRefused turns a step into a Recreate if the API server has refused to change this
// object to this content, or into a Block if it may not be deleted: a Secret with texts that
// were generated once needs the permission of the resource, and during a rollout every
// deletion needs that of the rollout.
func (in *Input) RecreateRefused(s *Step) {
	r, found := in.Recreations[s.Ref()]
	if !found || r.Hash != s.Hash || s.Live != nil && s.Live.Meta.GetUID() != r.Object.GetUID() {
		return
	}
	s.Recreation = &r
	gk := s.Document.GroupVersionKind().GroupKind()
	isGenerated := gk == secrets.GroupKind() && in.Draws != nil && in.Draws(s.Child.File)
	if isGenerated && !isAllowed(in.AllowPrune, gk, r.Object) {
		s.markBlocked(status.Problem{Severity: status.Stalled, Reason: api.ReasonPruneHeld, Message: fmt.Sprintf(
			"the API refuses to change it, and it is not recreated, since what was drawn for it would be lost; "+
				"to allow it, annotate this resource with %s=%s", api.AnnotationAllowPrune, Allowance(gk, r.Object))})
		return
	}
	if in.MayDelete != nil {
		if err := in.MayDelete(gk, r.Object); err != nil {
			s.markBlocked(status.Problem{Severity: status.Waiting, Reason: api.ReasonWaitsForApproval, Message: err.Error()})
			return
		}
	}
	s.Action, s.Why = Recreate, "the API refuses to change it: "+r.Why
}

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

// Recreated returns the object that is deleted to be created again.
func (s *Step) Recreated() metav1.Object {
	if s.Recreation != nil {
		return s.Recreation.Object
	}
	return s.Live.Meta
}

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
