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
func (in *Input) planMetadata(p *Plan) {
	switch {
	case in.Leaving:
		in.endDeletion(p)
	default:
		if record := in.recordSucceeded(p); record != in.Succeeded {
			p.Before.Annotations = map[string]string{api.AnnotationSucceeded: record}
		}
		in.planFinalizer(p)
	}
	if at := p.Attempts.Blocking(Key{Operation: OpMetadata}, "", in.Now); at != nil && !(p.Before.IsEmpty() && p.After.IsEmpty()) {
		if !p.Before.IsEmpty() {
			p.HoldBack()
		}
		p.Before, p.After = Metadata{}, Metadata{}
		p.Problems = append(p.Problems, status.Problem{Severity: status.Retry, Reason: api.ReasonNotRecorded, Message: at.Err.Error()})
		p.RequeueAfter(at.Next.Sub(in.Now))
	}
}

// planFinalizer plans a change of our finalizer. A resource needs it as long as it has, or is
// to have, children or patches that the garbage collector does not clean up, or not in order.
func (in *Input) planFinalizer(p *Plan) {
	if !p.IsRendered {
		return
	}
	switch needed := in.needsFinalizer(); {
	case needed && !in.HasFinalizer:
		p.Before.Finalizer = AddFinalizer
	case needed || !in.HasFinalizer || !p.IsComplete() || len(in.Unknown) > 0:
	case len(in.Doubtful) > 0:
		p.Relist = in.Doubtful
	default:
		p.After.Finalizer = RemoveFinalizer
	}
}

func (in *Input) needsFinalizer() bool {
	if len(in.DeleteOrder) > 0 || len(in.Patched) > 0 || slices.ContainsFunc(in.Result.Children, in.needsCleanup) {
		return true
	}
	for _, l := range in.Live {
		if !in.Owner.Keeps && !kept(l.Meta) && !in.isReachable(l) && Ours(in.Owner, l.Meta) {
			return true
		}
	}
	return false
}

// needsCleanup reports whether the garbage collector does not undo this child
// when the resource goes.
func (in *Input) needsCleanup(c render.Child) bool {
	return c.Policy.Patch ||
		!in.Owner.Keeps && c.Policy.OnDelete != "keep" && !garbageCollectable(in.Owner, c.Object.GetNamespace())
}

// endDeletion removes our finalizer from a resource of which nothing is left that would stay.
// Otherwise, it records the decision about the children before anything is deleted. Later plans
// cannot repeat it, and this process may not live until then.
func (in *Input) endDeletion(p *Plan) {
	p.Relist = in.Doubtful
	isPending, hasFailed := in.releaseStates(p)
	isEnd := len(p.Left) == 0 && len(p.Problems) == 0 && !isPending && len(in.Doubtful) == 0
	if isEnd {
		p.After.Finalizer = RemoveFinalizer
	}
	if p.Orphaning != OrphaningUnknown && p.Orphaning != in.RecordedOrphaning && (!isEnd || hasFailed) {
		p.Before.Annotations = map[string]string{api.AnnotationOrphaned: p.Orphaning.Record(in.Owner.UID)}
	}
	if age := in.Now.Sub(in.DeletionSeenAt); len(p.Left) > 0 && len(p.Problems) == 0 && age < reportDeletionAfter {
		p.SkipsStatus = true
		p.RequeueAfter(reportDeletionAfter - age)
	}
}

// reportDeletionAfter is how long a deletion may take before the status reports what it waits
// for.
const reportDeletionAfter = 5 * time.Second

// releaseStates reports whether a patch that could not be released is still waited for, and
// whether the release of a patch has failed before.
func (in *Input) releaseStates(p *Plan) (isPending, hasFailed bool) {
	for k, at := range p.Attempts {
		if k.Operation != OpRelease || at.Next.IsZero() || at.Refused.IsOver(in.Now) {
			continue
		}
		isPlanned := slices.ContainsFunc(p.Release, func(r Release) bool { return r.Key() == k })
		isDropped := at.Refused != nil && at.Refused.IsDropped
		hasFailed = true
		isPending = isPending || isPlanned && p.Delayed[k] || !isPlanned && isDropped
	}
	return isPending, hasFailed
}

// DescribeLeft returns the problem of a resource whose deletion waits for children.
func (p *Plan) DescribeLeft() status.Problem {
	texts := make([]string, len(p.Left))
	for i, r := range p.Left {
		texts[i] = r.String()
	}
	return status.Problem{Severity: status.Waiting, Reason: api.ReasonDeleting,
		Message: fmt.Sprintf("waiting until these are gone: %s", strings.Join(texts, ", "))}
}
