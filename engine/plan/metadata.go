package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/render"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// planMetadata plans changes of the resource itself. Annotations are records on which later
// plans depend.
func (m *planner) planMetadata() {
	switch {
	case m.IsDeleting:
		m.endDeletion()
	default:
		if record := m.recordSucceeded(); record != m.Succeeded {
			m.plan.Before.Annotations = map[string]string{api.AnnotationSucceeded: record}
		}
		m.planFinalizer()
	}
	changes := !m.plan.Before.IsEmpty() || !m.plan.After.IsEmpty()
	if at := m.plan.Attempts.Blocking(Key{Operation: OpMetadata}, "", m.Now); at != nil && changes {
		if !m.plan.Before.IsEmpty() {
			m.plan.HoldBack()
		}
		m.plan.Before, m.plan.After = Metadata{}, Metadata{}
		m.plan.Problems = append(m.plan.Problems, status.Problem{Severity: status.Retry, Reason: api.ReasonRecordFailed, Message: at.Err.Error()})
		m.plan.RequeueAfter(at.Next.Sub(m.Now))
	}
}

// planFinalizer plans a change of our finalizer. A resource needs it as long as it has, or is
// to have, children or patches that the garbage collector does not clean up, or not in order.
func (m *planner) planFinalizer() {
	if !m.plan.IsRendered {
		return
	}
	switch needed := m.needsFinalizer(); {
	case needed && !m.HasFinalizer:
		m.plan.Before.Finalizer = AddFinalizer
	case needed || !m.HasFinalizer || !m.plan.IsComplete() || len(m.Unknown) > 0:
	case len(m.Doubtful) > 0:
		m.plan.Relist = m.Doubtful
	default:
		m.plan.After.Finalizer = RemoveFinalizer
	}
}

func (in *Input) needsFinalizer() bool {
	if len(in.DeletionOrder) > 0 || len(in.Patched) > 0 || slices.ContainsFunc(in.Result.Children, in.Owner.needsCleanup) {
		return true
	}
	for _, l := range in.Live {
		if !in.Owner.Keeps && !isKept(l.Meta) && !garbageCollectable(in.Owner, l.Meta.GetNamespace()) && Ours(in.Owner, l.Meta) {
			return true
		}
	}
	return false
}

// needsCleanup reports whether the garbage collector does not undo this child
// when the resource goes.
func (o Owner) needsCleanup(c render.Child) bool {
	return c.Policy.Patch ||
		!o.Keeps && c.Policy.OnDelete != "keep" && !garbageCollectable(o, c.Object.GetNamespace())
}

// endDeletion removes our finalizer from a resource of which nothing is left that would stay.
// Otherwise, it records the decision about the children before anything is deleted. Later plans
// cannot repeat it, and this process may not live until then.
func (m *planner) endDeletion() {
	m.plan.Relist = m.Doubtful
	isPending, hasFailed := m.plan.releaseStates(m.Now)
	isEnd := len(m.plan.Remaining) == 0 && len(m.plan.Problems) == 0 && !isPending && len(m.Doubtful) == 0
	if isEnd {
		m.plan.After.Finalizer = RemoveFinalizer
	}
	mayFail := hasFailed || m.plan.Orphaning != NotOrphaned && len(m.plan.Release) > 0
	if m.plan.Orphaning != OrphaningUnknown && m.plan.Orphaning != m.RecordedOrphaning && (!isEnd || mayFail) {
		m.plan.Before.Annotations = map[string]string{api.AnnotationOrphaned: m.plan.Orphaning.Record(m.Owner.UID)}
	}
	if age := m.Now.Sub(m.DeletionSeenAt); len(m.plan.Remaining) > 0 && len(m.plan.Problems) == 0 && age < reportDeletionAfter {
		m.plan.SkipsStatus = true
		m.plan.RequeueAfter(reportDeletionAfter - age)
	}
}

// reportDeletionAfter is how long a deletion may take before the status reports what it waits
// for.
const reportDeletionAfter = 5 * time.Second

// releaseStates reports whether a patch that could not be released is still waited for, and
// whether the release of a patch has failed before.
func (p *Plan) releaseStates(now time.Time) (isPending, hasFailed bool) {
	for k, at := range p.Attempts {
		if k.Operation != OpRelease || at.Next.IsZero() || at.Refused.IsOver(now) {
			continue
		}
		isPlanned := slices.ContainsFunc(p.Release, func(r Release) bool { return r.Key() == k })
		isDropped := at.Refused != nil && at.Refused.IsDropped
		hasFailed = true
		isPending = isPending || isPlanned && p.Delayed[k] || !isPlanned && isDropped
	}
	return isPending, hasFailed
}

// DescribeRemaining returns the problem of a resource whose deletion waits for children.
func (p *Plan) DescribeRemaining() status.Problem {
	texts := make([]string, len(p.Remaining))
	for i, r := range p.Remaining {
		texts[i] = r.String()
	}
	return status.Problem{Severity: status.Waiting, Reason: api.ReasonDeleting,
		Message: fmt.Sprintf("waiting until these are gone: %s", strings.Join(texts, ", "))}
}
