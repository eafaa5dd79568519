package reconcile

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// describeChildren describes every child that the resource should have or, if that is not
// known, every one that it has.
func (t judge) describeChildren(p *plan.Plan, view *observe.Snapshot) []status.Child {
	current := map[plan.Ref]live.Object{}
	for _, l := range view.Live {
		if t.memory.applied.Ours(view.Subject.Owner(), l.Meta) {
			current[plan.RefOf(l)] = l
		}
	}
	var out []status.Child
	if !p.IsRendered {
		for _, l := range current {
			out = append(out, t.describeChild(view, l, p))
		}
		return t.withGone(out, p, view)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		gvk := s.Document.GroupVersionKind()
		l, there := current[s.Ref()]
		switch {
		case s.Child.Policy.Patch:
		case there:
			out = append(out, t.describeChild(view, l, p))
		case s.Action == plan.Done:
			c := describeMissing(s.Document, view.StateOf(gvk))
			c.Ready, c.Message = true, ""
			out = append(out, c)
		default:
			out = append(out, describeMissing(s.Document, view.StateOf(gvk)))
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

// A temporaryState is a state of a child that becomes another one by lasting, and since
// when this process has seen it; zero if it counted as lasting before this process began.
type temporaryState struct {
	state readiness.State
	since time.Time
}

// inheritHealth takes from the live status what an earlier process had waited for: what
// counted as ready or as failed counts so still.
func (t judge) inheritHealth(view *observe.Snapshot) {
	if t.memory.temporary != nil {
		return
	}
	t.memory.temporary = map[types.UID]temporaryState{}
	before := status.ReportedBy(t.subject.Resource.Object)
	for _, l := range view.Live {
		if state, lasted := before.Lasting(reportedAs(l)); lasted {
			t.memory.temporary[l.Meta.GetUID()] = temporaryState{state: state}
		}
	}
}

// reportedAs returns a live child as the status names it.
func reportedAs(l live.Object) status.Child {
	return status.Child{APIVersion: l.GVK.GroupVersion().String(), Kind: l.GVK.Kind, Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName()}
}

// judgeChild decides whether a live child is ready. It asks to look again once a temporary
// state has lasted.
func (t judge) judgeChild(view *observe.Snapshot, l live.Object) (readiness.Verdict, error) {
	set, gk, uid := t.subject.Version.Health(), l.GVK.GroupKind(), l.Meta.GetUID()
	if !readiness.NeedsBody(set, gk) && l.Meta.GetDeletionTimestamp() == nil {
		return readiness.Verdict{State: readiness.Ready}, nil
	}
	verdict, err := readiness.Of(observe.BodyOf(l), readiness.RuleFor(set, gk), t.r.cluster.DeclaresConditions(gk))
	if verdict.State == readiness.Unbound {
		verdict = verdict.WithClass(view.StorageClass(observe.BodyOf(l)))
	}
	if err != nil || !verdict.IsTemporary() {
		delete(t.memory.temporary, uid)
		return verdict, err
	}
	now, seen := t.r.now(), t.memory.temporary[uid]
	if seen.state != verdict.State {
		seen = temporaryState{verdict.State, now}
		t.memory.temporary[uid] = seen
	}
	lasted := readiness.Patience
	if !seen.since.IsZero() {
		lasted = now.Sub(seen.since)
	}
	t.found.requeueAfter(readiness.Patience - lasted)
	return verdict.After(lasted), nil
}

// describeChild reports on one live child. Of a resource that goes, health does not matter. The
// plan, which may be nil, says which claims are mounted.
func (t judge) describeChild(view *observe.Snapshot, l live.Object, p *plan.Plan) status.Child {
	c := reportedAs(l)
	if t.subject.IsDeleting() {
		if c.Message = stillThere; l.Meta.GetDeletionTimestamp() != nil {
			c.Message = readiness.MessageDeleted
		}
		return c
	}
	verdict, err := t.judgeChild(view, l)
	if err != nil {
		c.Message = fmt.Sprintf("its status cannot be read: %s", err)
		return c
	}
	if verdict.State == readiness.Unconsumed {
		verdict = verdict.ConsumedBy(view.ConsumerOf(observe.BodyOf(l), p))
	}
	c.Ready, c.Failed, c.Message = verdict.IsReady(), verdict.IsFailed(), verdict.Message
	return c
}

// stillThere is what the status says of a child that is not being deleted yet, or stays,
// while its resource goes.
const stillThere = "still there"

// withGone adds to the live children of a resource that is paused or held those
// that its status names and that are not there: nothing is rendered for it, so
// the status alone knows them, and nothing makes them again now. While a deletion has not
// decided whether children are orphaned, it keeps all that the status names: the
// decision depends on them.
func (t judge) withGone(current []status.Child, p *plan.Plan, view *observe.Snapshot) []status.Child {
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
			current = append(current, t.judgeGone(c, view))
		}
	}
	return current
}

// judgeGone says what is to be said of a child that is not there, and that was reported
// before. A Job that is made once and has succeeded may go.
func (t judge) judgeGone(c status.Child, view *observe.Snapshot) status.Child {
	reported := c.Message
	c.Ready, c.Message = false, ""
	switch {
	case t.subject.HasSucceeded(c):
		c.Ready = true
	case view.PhaseOf(observe.GroupKindOf(c)) == live.Unsynced:
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
