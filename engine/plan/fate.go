package plan

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// About is the first step that is about a live object, or nil.
func (p *Plan) About(l observe.Live) *Step {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Live != nil && s.Live.Meta.GetUID() == l.Meta.GetUID() })
	if i < 0 {
		return nil
	}
	return &p.Steps[i]
}

// Fate says, for people, what becomes of a live child or patched object of the
// owner; "" if it stays as it was applied.
func (p *Plan) Fate(owner Owner, l observe.Live) string {
	same := func(o observe.Live) bool { return o.Meta.GetUID() == l.Meta.GetUID() }
	step := p.About(l)
	switch {
	case l.Meta.GetDeletionTimestamp() != nil:
		return "it is being deleted"
	case step != nil:
		return step.fate()
	case slices.ContainsFunc(p.GiveBack, func(r Return) bool { return same(r.Live) }):
		return "its fields are to be given back"
	case slices.ContainsFunc(p.Prune, same):
		return "it is to be pruned"
	case slices.ContainsFunc(p.Held, same):
		return "it is held, since what is in it would be lost; it is pruned once the resource has the annotation " +
			api.AnnotationAllowPrune + ": " + l.GVK.Kind + "/" + l.Meta.GetName()
	case l.Meta.GetLabels()[api.LabelOwnerUID] == string(owner.UID) && !Ours(owner, l.Meta):
		return "it is left alone: somebody has put the label of this resource's children on it"
	case p.Empty:
		return "it stays: the last children are only pruned with allowEmpty in kind.yaml"
	case kept(l.Meta):
		return "it stays, as its annotation " + api.AnnotationOnDelete + ": keep says"
	}
	return "it stays while a file waits"
}

func (s *Step) fate() string {
	switch s.Action {
	case Update, Patch:
		return "it is to be changed: " + s.Why
	case Recreate:
		return "it is to be made anew: " + s.Why
	case Refuse:
		return "it is left alone: " + s.Why
	case Hold:
		return "it stays as it is: " + s.Why
	}
	return ""
}
