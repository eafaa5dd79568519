package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// withGone adds to the live children of a resource that is paused or held those
// that its status names and that are not there: nothing is rendered for it, so
// the status alone knows them, and nothing makes them again now. While a deletion has not
// decided whether children are orphaned, it keeps all that the status names: the
// decision depends on them.
func (t judge) withGone(current []status.Child, p *plan.Plan, w *snapshot) []status.Child {
	undecided := t.subject.isDeleting() && p.Orphaning == plan.OrphaningUnknown
	if !undecided && (t.subject.isDeleting() || !t.subject.isPaused() && !t.choice.Frozen) {
		return current
	}
	seen := slices.Clone(current)
	reported, _ := t.subject.listReported()
	for _, c := range reported {
		switch {
		case slices.ContainsFunc(seen, func(l status.Child) bool { return sameChild(l, c) }):
		case undecided:
			current = append(current, c)
		default:
			current = append(current, t.judgeGone(c, w))
		}
	}
	return current
}

// judgeGone says what is to be said of a child that is not there, and that was reported
// before. A Job that is made once and has succeeded may go.
func (t judge) judgeGone(c status.Child, w *snapshot) status.Child {
	reported := c.Message
	c.Ready, c.Message = false, ""
	switch {
	case t.subject.hasSucceeded(c):
		c.Ready = true
	case w.phaseOf(groupKind(c)) == live.Unsynced:
		c.Message = notKnown
	case reported == notThere:
		c.Message = notThere
	case t.subject.isPaused():
		c.Message = goneWhilePaused
	default:
		c.Message = goneWhileFrozen
	}
	return c
}

// What the status says of a child that is gone and is not made again now.
const (
	goneWhilePaused = "it is gone, and not made again while paused"
	goneWhileFrozen = "it is gone, and made again when the rollout of the changed folder reaches this resource"
)

// listReported returns the children that the status names.
func (s *subject) listReported() (children []status.Child, cut bool) {
	fields, _ := s.resource.Object["status"].(map[string]any)
	return status.ChildrenOf(fields)
}

// hasSucceeded reports whether a child is a Job that is made once and has succeeded.
func (s *subject) hasSucceeded(c status.Child) bool {
	record := s.resource.GetAnnotations()[api.AnnotationSucceeded]
	return groupKind(c) == plan.JobKind.GroupKind() && plan.HasSucceededOnce(record, plan.OnceName(s.planOwner(), c.Namespace, c.Name))
}

// reportedChildren are the children that the status names, and whether it says that they
// existed; nil if the CRD does not declare them, or the list was cut.
func (s *subject) reportedChildren() map[plan.Ref]bool {
	children, cut := s.listReported()
	if cut || !s.version.declaresChildren() {
		return nil
	}
	all := map[plan.Ref]bool{}
	for _, c := range children {
		absent := !c.Ready && slices.Contains([]string{notThere, goneWhilePaused, goneWhileFrozen}, c.Message)
		all[plan.Ref{GroupKind: groupKind(c), Namespace: c.Namespace, Name: c.Name}] = !absent && !s.hasSucceeded(c)
	}
	return all
}

// declaresChildren reports whether the CRD has room for the children in the status.
func (v *Version) declaresChildren() bool {
	shown := v.shownVersion()
	if shown == nil || !shown.Status {
		return false
	}
	child := map[string]any{"apiVersion": "", "kind": "", "namespace": "", "name": ""}
	_, dropped := shown.PruneStatus(map[string]any{"children": []any{child}})
	return len(dropped) == 0
}

// phaseOf returns how much is known of the children of a kind, in whichever version.
func (w *snapshot) phaseOf(gk schema.GroupKind) live.Phase {
	phase := live.Unsynced
	for gvk, state := range w.state {
		if gvk.GroupKind() == gk && (phase == live.Unsynced || state.Phase == live.Synced) {
			phase = state.Phase
		}
	}
	return phase
}

func groupKind(c status.Child) schema.GroupKind {
	return schema.FromAPIVersionAndKind(c.APIVersion, c.Kind).GroupKind()
}

func sameChild(a, b status.Child) bool {
	return groupKind(a) == groupKind(b) && a.Namespace == b.Namespace && a.Name == b.Name
}
