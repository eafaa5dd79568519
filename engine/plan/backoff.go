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
func (in *Input) holdBack(p *Plan, s *Step) {
	switch s.Action {
	case Keep, Done:
		in.settleStep(p, s)
		return
	case Block:
		if s.Problem != nil {
			p.RequeueAfter(blockRetry)
		} else {
			s.Problem = s.newProblem(status.Waiting, api.ReasonChildWaiting, fmt.Sprintf("waiting to apply %s: %s", s.Name(), s.Why))
		}
	case Refuse:
		s.Problem = s.newProblem(status.Stalled, api.ReasonNotOurs,
			fmt.Sprintf("%s is there already and is left alone: %s", s.Name(), s.Why))
		p.RequeueAfter(Retry{Min: refuseRetry, Max: refuseRetry}.DelayAfter(1))
	default:
		if in.mustWait(p, s) {
			s.Action = BackOff
		}
		if s.Action == Create && in.WasMade != nil && in.WasMade(s.Ref()) {
			p.ConfirmAlive = true
		}
	}
	if s.Problem != nil {
		p.Problems = append(p.Problems, *s.Problem)
	}
}

// settleStep forgets earlier attempts at a step that needs no request. What has not lasted so far
// is reported until it has for a while.
func (in *Input) settleStep(p *Plan, s *Step) {
	delete(p.Attempts, s.Key())
	switch at := p.Attempts[s.TakeBackKey()]; {
	case !at.IsContended():
	case s.Action == Done || !in.Now.Before(at.ContentionEnds()):
		delete(p.Attempts, s.TakeBackKey())
	default:
		p.Problems = append(p.Problems, at.Problem)
		p.RequeueAfter(at.ContentionEnds().Sub(in.Now))
	}
	p.Attempts.ReleaseRepeat(s.RepeatKey())
	in.reportOscillation(p, s)
}

// mustWait reports whether a step that writes has to wait.
func (in *Input) mustWait(p *Plan, s *Step) bool {
	if at := p.Attempts.Blocking(s.Key(), s.AttemptHash(), in.Now); at != nil && !s.isWayChanged(at) {
		s.waitFor(p, at, in.Now)
		return true
	}
	return in.isContended(p, s) || in.isRepeated(p, s)
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
func (in *Input) isContended(p *Plan, s *Step) bool {
	if len(s.Taken) == 0 {
		return false
	}
	if at := p.Attempts.BlockingTakeBack(s, in.Now); at != nil {
		s.waitFor(p, at, in.Now)
		return true
	}
	if at := p.Attempts.TakeBack(s, in.Now); at.IsContended() { // to set it right now does not end it
		p.Problems = append(p.Problems, at.Problem)
		p.RequeueAfter(at.ContentionEnds().Sub(in.Now))
	}
	return false
}

// isRepeated reports whether a step has to wait, since our own writes seem to cause it.
func (in *Input) isRepeated(p *Plan, s *Step) bool {
	if s.Action != Update && s.Action != Patch {
		return false
	}
	content := Content{Hash: s.Hash, Document: s.Document.Object, Cause: in.Cause}
	delay := p.Attempts.FollowRepeat(s.RepeatKey(), content, in.LastWrite, in.Now)
	in.reportOscillation(p, s)
	p.RequeueAfter(delay)
	return delay > 0
}

// reportOscillation reports a child whose content our own writes change.
func (in *Input) reportOscillation(p *Plan, s *Step) {
	if problem, due := p.Attempts.Oscillation(s.RepeatKey(), s.Name(), s.Place(), in.Now); problem != nil {
		p.Problems = append(p.Problems, *problem)
		p.RequeueAfter(due)
	}
}

// forgetAttempts forgets attempts at what is not planned any more.
func (in *Input) forgetAttempts(p *Plan) {
	planned, refs := map[Key]bool{}, map[Ref]bool{}
	for i := range p.Steps {
		s := &p.Steps[i]
		planned[s.Key()], planned[s.RecreateKey()], refs[s.Ref()] = true, true, true
	}
	p.Attempts.Forget(planned, in.Now, OpWrite, OpRecreate)
	for k := range p.Attempts {
		if (k.Operation == OpTakeBack || k.Operation == OpRepeat && k != StatusRepeatKey) && !refs[k.Ref] {
			delete(p.Attempts, k)
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
		if p.Steps[i].Action.IsWrite() {
			p.Steps[i].Action = BackOff
		}
	}
	for _, k := range p.pruneKeys() {
		p.Delayed[k] = true
	}
	p.PruneProblems, p.After = nil, Metadata{}
}
