package reconcile

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// withGone adds to the live children of a resource that is paused or held those
// that its status names and that are not there: nothing is rendered for it, so
// the status alone knows them, and nothing makes them again now. While a deletion has not
// decided whether children are orphaned, it keeps all that the status names: the
// decision depends on them.
func (t judge) withGone(current []status.Child, p *plan.Plan, w *observe.Snapshot) []status.Child {
	undecided := t.subject.IsDeleting() && p.Orphaning == plan.OrphaningUnknown
	if !undecided && (t.subject.IsDeleting() || !t.subject.IsPaused() && !t.choice.Frozen) {
		return current
	}
	seen := slices.Clone(current)
	reported, _ := t.subject.ListReported()
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
func (t judge) judgeGone(c status.Child, w *observe.Snapshot) status.Child {
	reported := c.Message
	c.Ready, c.Message = false, ""
	switch {
	case t.subject.HasSucceeded(c):
		c.Ready = true
	case w.PhaseOf(observe.GroupKindOf(c)) == live.Unsynced:
		c.Message = observe.NotKnown
	case reported == observe.NotThere:
		c.Message = observe.NotThere
	case t.subject.IsPaused():
		c.Message = observe.GoneWhilePaused
	default:
		c.Message = observe.GoneWhileFrozen
	}
	return c
}

func sameChild(a, b status.Child) bool {
	return observe.GroupKindOf(a) == observe.GroupKindOf(b) && a.Namespace == b.Namespace && a.Name == b.Name
}
