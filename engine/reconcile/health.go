package reconcile

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// A temporaryState is a state of a child that becomes another one by lasting, and since
// when this process has seen it; zero if it counted as lasting before this process began.
type temporaryState struct {
	state readiness.State
	since time.Time
}

// inheritHealth takes from the live status what an earlier process had waited for: what
// counted as ready or as failed counts so still.
func (t judge) inheritHealth(w *observe.Snapshot) {
	if t.memory.temporary != nil {
		return
	}
	t.memory.temporary = map[types.UID]temporaryState{}
	before := status.ReportedBy(t.subject.Resource.Object)
	for _, l := range w.Live {
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
func (t judge) judgeChild(w *observe.Snapshot, l live.Object) (readiness.Verdict, error) {
	set, gk, uid := t.subject.Version.Health(), l.GVK.GroupKind(), l.Meta.GetUID()
	if !readiness.NeedsBody(set, gk) && l.Meta.GetDeletionTimestamp() == nil {
		return readiness.Verdict{State: readiness.Ready}, nil
	}
	verdict, err := readiness.Of(observe.BodyOf(l), readiness.RuleFor(set, gk), t.r.cluster.DeclaresConditions(gk))
	if verdict.State == readiness.Unbound {
		verdict = verdict.WithClass(w.StorageClass(observe.BodyOf(l)))
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
func (t judge) describeChild(w *observe.Snapshot, l live.Object, p *plan.Plan) status.Child {
	c := reportedAs(l)
	if t.subject.IsDeleting() {
		if c.Message = stillThere; l.Meta.GetDeletionTimestamp() != nil {
			c.Message = readiness.MessageDeleted
		}
		return c
	}
	verdict, err := t.judgeChild(w, l)
	if err != nil {
		c.Message = fmt.Sprintf("its status cannot be read: %s", err)
		return c
	}
	if verdict.State == readiness.Unconsumed {
		verdict = verdict.ConsumedBy(w.ConsumerOf(observe.BodyOf(l), p))
	}
	c.Ready, c.Failed, c.Message = verdict.IsReady(), verdict.IsFailed(), verdict.Message
	return c
}

// stillThere is what the status says of a child that is not being deleted yet, or stays,
// while its resource goes.
const stillThere = "still there"
