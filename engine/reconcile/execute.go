package reconcile

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// execute carries out a plan, and learns from the results.
func (t *reconciliation) execute(ctx context.Context, p *plan.Plan) {
	writer, err := t.resourceWriter()
	if err != nil {
		t.found.incomplete = true
		t.notRecorded(err)
		return
	}
	held := t.holdBack(ctx, p)
	due, waiting := t.duePrunes(p)
	t.learnResults(append(held, apply.Execute(ctx, writer, due)...))
	if !t.found.incomplete {
		t.reportPrunes(p, waiting)
	}
}

// resourceWriter returns what carries out plans of the resource.
func (t *reconciliation) resourceWriter() (apply.ResourceWriter, error) {
	to, err := t.subject.writer()
	if err != nil {
		return nil, err
	}
	applied := t.known.children.applied
	return to.For(apply.ResourceOf{
		Owner: t.subject.owner(), IsDeleting: t.subject.deleting(),
		Served:     func(gvk schema.GroupVersionKind) (live.Resource, bool) { return t.r.cluster.Served().Resource(gvk) },
		WasApplied: func(uid types.UID) bool { _, found := applied[uid]; return found },
	}), nil
}

// A plannedStep is a step of a plan, with what it takes to find what is remembered of it.
type plannedStep struct {
	*plan.Step
	run *reconciliation
	now time.Time
}

func (t *reconciliation) newPlannedStep(s *plan.Step) *plannedStep {
	return &plannedStep{Step: s, run: t, now: t.r.now()}
}

func (s *plannedStep) childName() string { return childName(s.Step) }

// contentHash identifies what a step writes. A CRD that changed may accept what it refused, so
// that the same document counts as other content.
func (s *plannedStep) contentHash() string {
	return s.Hash + " " + s.run.schemaOfKind(s.Document.GroupVersionKind())
}

// schemaOfKind identifies what a CRD says of the objects of a kind; "" of a kind without CRD.
func (t *reconciliation) schemaOfKind(gvk schema.GroupVersionKind) string {
	served, found := t.r.cluster.Served().Resource(gvk)
	if !found {
		return ""
	}
	return schemaOf(t.r.cluster.CRD(served.GVR.GroupResource().String()))
}

// schemaOf identifies what a CRD says of its objects; "" of a kind without CRD.
func schemaOf(crd metav1.Object) string {
	if crd == nil {
		return ""
	}
	return fmt.Sprintf("%s/%d", crd.GetUID(), crd.GetGeneration())
}

// holdBack turns the steps that have to wait into BackOffs, reports what they wait for, and
// completes the others. It returns the results of those that have failed already.
func (t *reconciliation) holdBack(ctx context.Context, p *plan.Plan) (failed []plan.Result) {
	current := map[plan.Key]bool{}
	for i := range p.Steps {
		s := t.newPlannedStep(&p.Steps[i])
		current[s.Key()], current[s.RecreateKey()] = true, true
		s.GeneratesText = s.Document.GetKind() == "Secret" && t.texts.fresh[s.Child.File]
		if k := t.subject.version.Kind; k != nil {
			s.GeneratedFrom = k.DrawsFrom(s.Child.File)
		}
		if !s.isSettled() && s.mustWait() {
			s.Action = plan.BackOff
		}
		if s.Action == plan.Create && s.mayHaveExisted() {
			if err := t.confirmedAlive(ctx); err != nil {
				s.Action = plan.BackOff
				failed = append(failed, plan.Result{Step: s.Step, Outcome: plan.Outcome{Err: err}})
			}
		}
	}
	t.countSkipped(p)
	t.known.failures.attempts.Forget(current, t.r.now(), plan.OpWrite, plan.OpRecreate)
	return failed
}

// isSettled reports whether a step needs no request, and reports why not.
func (s *plannedStep) isSettled() bool {
	switch s.Action {
	case plan.Keep, plan.Done:
		delete(s.run.known.failures.attempts, s.Key())
		s.reportContention()
		s.run.known.failures.attempts.ReleaseRepeat(s.RepeatKey())
		s.run.reportOscillation(s.RepeatKey(), s.Name(), s.templatePlace())
	case plan.Block:
		if s.Problem != nil {
			s.reportProblem(*s.Problem)
			s.run.found.again(time.Minute)
			return true
		}
		s.reportProblem(status.Problem{Severity: status.Waiting, Reason: api.ReasonChildWaiting,
			Message: fmt.Sprintf("waiting to apply %s: %s", s.Name(), s.Why)})
	case plan.Refuse:
		s.reportProblem(status.Problem{Severity: status.Stalled, Reason: api.ReasonNotOurs,
			Message: fmt.Sprintf("%s is there already and is left alone: %s", s.Name(), s.Why)})
		s.run.found.again(plan.Retry{Min: longestGap, Max: longestGap}.DelayAfter(1))
	default:
		return false
	}
	return true
}

// mustWait reports whether a step that writes has to wait, and reports why.
func (s *plannedStep) mustWait() bool {
	if at := s.run.known.failures.attempts.Blocking(s.Key(), s.contentHash(), s.now); at != nil && !s.isWayChanged(at) {
		s.reportProblem(at.Problem)
		s.run.found.again(at.Next.Sub(s.now))
		return true
	}
	return s.isContended() || s.mayOscillate()
}

// isContended reports whether a step has to wait, since other managers take its fields again
// and again.
func (s *plannedStep) isContended() bool {
	if len(s.Taken) == 0 {
		return false
	}
	attempts := s.run.known.failures.attempts
	if at := attempts.BlockingTakeBack(s.Step, s.now); at != nil {
		s.reportProblem(at.Problem)
		s.run.found.again(at.Next.Sub(s.now))
		return true
	}
	if at := attempts.TakeBack(s.Step, s.now); at.IsContended() { // to set it right now does not end it
		s.run.found.add(at.Problem)
		s.run.found.again(at.ContentionEnds().Sub(s.now))
	}
	return false
}

// reportContention reports a contention that is not over yet although all is right just now.
func (s *plannedStep) reportContention() {
	attempts := s.run.known.failures.attempts
	switch at := attempts[s.TakeBackKey()]; {
	case !at.IsContended():
	case s.Action == plan.Done || !s.now.Before(at.ContentionEnds()):
		delete(attempts, s.TakeBackKey())
	default:
		s.run.found.add(at.Problem)
		s.run.found.again(at.ContentionEnds().Sub(s.now))
	}
}

func (s *plannedStep) templatePlace() string { return s.Child.Doc.Place().String() }

func (s *plannedStep) reportProblem(p status.Problem) {
	if p.File == "" {
		p.File = s.templatePlace()
	}
	s.run.found.incomplete = true
	s.run.found.add(p)
}

// othersInTheWay identifies what others own of the live object, if the API server refuses
// the write for a part of that object; "" if not.
func (s *plannedStep) othersInTheWay(err error) string {
	kind := apply.Classify(err).Kind
	if s.Live == nil || kind != apply.ForeignEntry && kind != apply.LeftOver {
		return ""
	}
	return othersMark(s.Live.Meta)
}

func othersMark(o metav1.Object) string {
	return string(o.GetUID()) + ": " + ownership.OthersMark(o.GetManagedFields(), api.FieldManager)
}

// isWayChanged reports whether a write failed for what others own of the live object, and
// that changed since: somebody may have removed what was in the way.
func (s *plannedStep) isWayChanged(at *plan.Attempt) bool {
	return at.Obstacle != "" && s.Live != nil && at.Obstacle != othersMark(s.Live.Meta)
}

// mayHaveExisted reports whether a child that is to be created may have existed before: this
// process made it, or another operator may have.
func (s *plannedStep) mayHaveExisted() bool {
	_, made := s.run.known.children.made[s.childName()]
	return made || s.run.r.tookOver() && !s.run.known.children.lives
}
