package plan

import (
	"fmt"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/status"
)

const (
	// refuseRetry is how often an object that is not ours is looked at again, and blockRetry how
	// often a step that a person has to permit is.
	refuseRetry = 5 * time.Minute
	blockRetry  = time.Minute
)

// holdBack turns a step into a BackOff if an earlier attempt at it failed, or did not last, and
// it is not time yet to try again. It reports why a step is not carried out.
func (m *planner) holdBack(s *Step) {
	switch s.Action {
	case Keep, Done:
		m.settleStep(s)
		return
	case Block:
		if s.Problem != nil {
			m.plan.RequeueAfter(blockRetry)
		} else {
			s.Problem = s.newProblem(status.Waiting, api.ReasonChildWaiting, fmt.Sprintf("waiting to apply %s: %s", s.Name(), s.Why))
		}
	case Refuse:
		s.Problem = s.newProblem(status.Stalled, api.ReasonOwnedByOthers,
			fmt.Sprintf("%s is there already and is left alone: %s", s.Name(), s.Why))
		m.plan.RequeueAfter(Retry{Min: refuseRetry, Max: refuseRetry}.DelayAfter(1))
	default:
		if m.SchemaOf != nil {
			s.Schema = m.SchemaOf(s.Document.GroupVersionKind())
		}
		if m.mustWait(s) {
			s.Action = BackOff
		}
		if s.Action == Create && m.WasMade != nil && m.WasMade(s.Ref()) {
			s.WasMade, m.plan.ConfirmAlive = true, true
		}
	}
	if s.Problem != nil {
		m.plan.Problems = append(m.plan.Problems, *s.Problem)
	}
}

// settleStep forgets earlier attempts at a step that needs no request. What has not lasted so far
// is reported until it has for a while.
func (m *planner) settleStep(s *Step) {
	delete(m.plan.Attempts, s.Key())
	switch at := m.plan.Attempts[s.TakeBackKey()]; {
	case !at.IsContended():
	case s.Action == Done || !m.Now.Before(at.ContentionEnds()):
		delete(m.plan.Attempts, s.TakeBackKey())
	default:
		m.plan.Problems = append(m.plan.Problems, at.Problem)
		m.plan.RequeueAfter(at.ContentionEnds().Sub(m.Now))
	}
	m.plan.Attempts.ReleaseRepeat(s.RepeatKey())
	m.reportOscillation(s)
}

// mustWait reports whether a step that writes has to wait.
func (m *planner) mustWait(s *Step) bool {
	if at := m.plan.Attempts.Blocking(s.Key(), s.AttemptHash(), m.Now); at != nil && !s.isWayChanged(at) {
		s.waitFor(m.plan, at, m.Now)
		return true
	}
	return m.isContended(s) || m.isRepeated(s)
}

// waitFor reports the attempt that a step has to wait for.
func (s *Step) waitFor(p *Plan, at *Attempt, now time.Time) {
	problem := at.Problem
	s.Problem = &problem
	if problem.File == "" {
		s.Problem.File = s.Place()
	}
	p.RequeueAfter(at.Next.Sub(now))
}

// isContended reports whether a step has to wait, since other managers take its fields again
// and again.
func (m *planner) isContended(s *Step) bool {
	if len(s.Taken) == 0 {
		return false
	}
	if at := m.plan.Attempts.BlockingTakeBack(s, m.Now); at != nil {
		s.waitFor(m.plan, at, m.Now)
		return true
	}
	if at := m.plan.Attempts.TakeBack(s, m.Now); at.IsContended() { // to set it right now does not end it
		m.plan.Problems = append(m.plan.Problems, at.Problem)
		m.plan.RequeueAfter(at.ContentionEnds().Sub(m.Now))
	}
	return false
}

// isRepeated reports whether a step has to wait, since our own writes seem to cause it.
func (m *planner) isRepeated(s *Step) bool {
	if s.Action != Update && s.Action != Patch {
		return false
	}
	content := Content{Hash: s.Hash, Document: s.Document.Object, Cause: m.Cause}
	delay := m.plan.Attempts.FollowRepeat(s.RepeatKey(), content, m.LastWrite, m.Now)
	m.reportOscillation(s)
	m.plan.RequeueAfter(delay)
	return delay > 0
}

// reportOscillation reports a child whose content our own writes change.
func (m *planner) reportOscillation(s *Step) {
	if problem, due := m.plan.Attempts.Oscillation(s.RepeatKey(), s.Name(), s.Place, m.Now); problem != nil {
		m.plan.Problems = append(m.plan.Problems, *problem)
		m.plan.RequeueAfter(due)
	}
}

// forgetAttempts forgets attempts at what is not planned any more.
func (m *planner) forgetAttempts() {
	planned, refs := map[Key]bool{}, map[Ref]bool{}
	for i := range m.plan.Steps {
		s := &m.plan.Steps[i]
		planned[s.Key()], planned[s.RecreateKey()], refs[s.Ref()] = true, true, true
	}
	m.plan.Attempts.Forget(planned, m.Now, OpWrite, OpRecreate)
	for k := range m.plan.Attempts {
		if (k.Operation == OpTakeBack || k.Operation == OpRepeat && k != StatusRepeatKey) && !refs[k.Ref] {
			delete(m.plan.Attempts, k)
		}
	}
}

// Place returns where the template renders the document of the step.
func (s *Step) Place() string {
	if s.Child.Doc == nil {
		return ""
	}
	return s.Child.Doc.Place().String()
}

// AttemptHash identifies the content of attempts at the step.
func (s *Step) AttemptHash() string { return s.Hash + " " + s.Schema }

func (s *Step) newProblem(severity status.Severity, reason, message string) *status.Problem {
	return &status.Problem{Severity: severity, Reason: reason, Message: message, File: s.Place()}
}

// isWayChanged reports whether a write failed for what others own of the live object, and
// that changed since: somebody may have removed what was in the way.
func (s *Step) isWayChanged(at *Attempt) bool {
	return at.Obstacle != "" && s.Live != nil && at.Obstacle != Obstacle(*s.Live)
}

// Obstacle identifies what others own of an object.
func Obstacle(l live.Object) string {
	return string(l.Meta.GetUID()) + ": " + ownership.OthersMark(l.Meta.GetManagedFields(), api.FieldManager)
}

// HoldBack turns all steps that write into BackOffs, and delays all deletions and releases:
// what they depend on has failed. The resource keeps our finalizer.
func (p *Plan) HoldBack() {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action.IsWrite() {
			p.WithdrawStep(s)
			s.Action = BackOff
		}
	}
	for _, k := range p.pruneKeys() {
		p.Delayed[k] = true
	}
	p.isHeldBack, p.PruneProblems, p.After = true, nil, Metadata{}
}

// HoldBackCreations turns the steps that create children again into BackOffs: it is not known
// whether the resource is being deleted.
func (p *Plan) HoldBackCreations() {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == Create && s.WasMade {
			s.Action = BackOff
		}
	}
}

// WithdrawStep takes back that fields are taken back, and that content is written, by a step that
// is not carried out after all.
func (p *Plan) WithdrawStep(s *Step) {
	for _, k := range []Key{s.TakeBackKey(), s.RepeatKey()} {
		if at, found := p.earlier[k]; found {
			p.Attempts[k] = at
		} else {
			delete(p.Attempts, k)
		}
	}
}
