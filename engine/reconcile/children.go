package reconcile

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// describeChildren describes every child that the resource should have or, if that is not
// known, every one that it has.
func (t judge) describeChildren(p *plan.Plan, w *observe.Snapshot) []status.Child {
	current := map[plan.Ref]live.Object{}
	for _, l := range w.Live {
		if t.memory.applied.Ours(w.Subject.Owner(), l.Meta) {
			current[plan.RefOf(l)] = l
		}
	}
	var out []status.Child
	if !p.IsRendered {
		for _, l := range current {
			out = append(out, t.describeChild(w, l, p))
		}
		return t.withGone(out, p, w)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		gvk := s.Document.GroupVersionKind()
		l, there := current[s.Ref()]
		switch {
		case s.Child.Policy.Patch:
		case there:
			out = append(out, t.describeChild(w, l, p))
		case s.Action == plan.Done:
			c := describeMissing(s.Document, w.StateOf(gvk))
			c.Ready, c.Message = true, ""
			out = append(out, c)
		default:
			out = append(out, describeMissing(s.Document, w.StateOf(gvk)))
		}
	}
	return out
}

// describeMissing describes a child that is not among the live ones.
func describeMissing(o *unstructured.Unstructured, s live.State) status.Child {
	c := status.Child{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName(),
		Message: observe.NotThere}
	if s.Phase == live.Unsynced {
		c.Message = observe.NotKnown
	}
	return c
}
