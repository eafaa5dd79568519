package plan

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// About is the first step that is about a live object, or nil.
func (p *Plan) About(l live.Object) *Step {
	i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.Live != nil && s.Live.Meta.GetUID() == l.Meta.GetUID() })
	if i < 0 {
		return nil
	}
	return &p.Steps[i]
}

// Describe says, for people, what becomes of a live child or patched object of the
// owner; "" if it stays as it was applied.
func (p *Plan) Describe(owner Owner, l live.Object) string {
	same := func(o live.Object) bool { return o.Meta.GetUID() == l.Meta.GetUID() }
	step := p.About(l)
	retained := slices.IndexFunc(p.Retained, func(r Retained) bool { return same(r.Live) })
	switch {
	case l.Meta.GetDeletionTimestamp() != nil:
		return "it is being deleted"
	case step != nil:
		return step.describeAction()
	case slices.ContainsFunc(p.Release, func(r Release) bool { return same(r.Live) }):
		return "its fields are to be given back"
	case slices.ContainsFunc(p.Prune, same):
		return "it is to be pruned"
	case retained >= 0:
		return p.Retained[retained].Describe()
	case l.Meta.GetLabels()[api.LabelOwnerUID] == string(owner.UID) && !Ours(owner, l.Meta):
		return "it is left alone: somebody has put the label of this resource's children on it"
	case p.Empty:
		return "it stays: the last children are only pruned with allowEmpty in kind.yaml"
	case isKept(l.Meta):
		return "it stays, as its annotation " + api.AnnotationOnDelete + ": keep says"
	}
	return "it stays while its Namespace is held"
}

// Describe says, for people, why a child that nobody wants stays, and what ends that.
func (r Retained) Describe() string {
	allow := "the annotation " + api.AnnotationAllowPrune + ": " + Allowance(r.Live.GVK.GroupKind(), r.Live.Meta)
	switch r.Why {
	case FileWaits:
		return "it stays while " + r.File + ".yaml waits, or until the resource has " + allow
	case FileFails:
		return "it stays while " + r.File + ".yaml cannot be rendered, or until the resource has " + allow
	case HoldsData:
		return "it is not rendered any more and stays, since what is in it would be lost; it is deleted once the resource has " + allow
	case StillUsed:
		return "its file renders another " + r.Live.GVK.Kind + " in its place; it is deleted once the resource is ready, or has " + allow
	case Orphaned:
		return "it outlives its resource"
	case NoReference:
		return "it outlives its resource, since it has no owner reference to it"
	}
	return ""
}

func (s *Step) describeAction() string {
	switch s.Action {
	case Update, Patch:
		return "it is to be changed: " + s.Why
	case Recreate:
		return "it is to be recreated: " + s.Why
	case Refuse:
		return "it is left alone: " + s.Why
	case Block:
		return "it stays as it is: " + s.Why
	}
	return ""
}
