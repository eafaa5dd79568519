package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A field conflict is a child, or a patched object, from which other managers take
// fields again and again. It is set right slower and slower, and never given
// up; it is over once nobody took anything for as long as the last wait.
type fieldConflict struct {
	fields  []string // which were taken last
	rounds  int
	last    time.Time // when it was last set right
	until   time.Time // when to set it right again
	problem status.Problem
}

// How often fields are set right at once, and the bounds of the waits after.
const (
	freeRounds         = 3
	roundGap           = time.Minute // later than that, it is not "again"
	fieldConflictFirst = 5 * time.Second
)

// inFieldConflict reports whether a step waits because others took its fields again.
func (s *plannedStep) inFieldConflict() bool {
	if len(s.Taken) == 0 {
		return false
	}
	c := s.run.known.failures.fieldConflicts[s.childName()]
	if c == nil {
		c = &fieldConflict{}
		s.run.known.failures.fieldConflicts[s.childName()] = c
	}
	if !slices.ContainsFunc(s.Taken, func(path string) bool { return slices.Contains(c.fields, path) }) {
		*c = fieldConflict{} // it is about something else
	}
	c.fields = s.Taken
	if s.now.Before(c.until) {
		s.reportProblem(c.problem)
		s.run.found.again(c.until.Sub(s.now))
		return true
	}
	if s.now.Sub(c.last) > max(roundGap, 2*c.wait()) {
		c.rounds = 0
	}
	c.rounds++
	c.last = s.now
	c.until = s.now.Add(c.wait())
	if c.rounds > freeRounds {
		c.problem = status.Problem{Severity: status.Retry, Reason: api.ReasonContended, Message: fmt.Sprintf(
			"%s: %s keeps changing %s; it is set again, less and less often", s.Name(), strings.Join(s.Takers, ", "),
			plan.Brief(s.Taken))}
		s.run.found.add(c.problem) // setting it right now does not end it
		s.run.found.again(c.isOver().Sub(s.now))
	}
	return false
}

// wait is how long the next round has to wait.
func (c *fieldConflict) wait() time.Duration {
	if c.rounds <= freeRounds {
		return 0
	}
	return plan.Retry{Min: fieldConflictFirst, Max: longestGap}.DelayAfter(c.rounds - freeRounds + 1)
}

// reportFieldConflict reports a field conflict that is not over yet although all is right just now.
func (s *plannedStep) reportFieldConflict() {
	c := s.run.known.failures.fieldConflicts[s.childName()]
	if c == nil || c.rounds <= freeRounds {
		return
	}
	if s.Action == plan.Done || !s.now.Before(c.isOver()) {
		delete(s.run.known.failures.fieldConflicts, s.childName())
		return
	}
	s.run.found.add(c.problem)
	s.run.found.again(c.isOver().Sub(s.now))
}

// isOver is when it is over if nobody takes anything until then.
func (c *fieldConflict) isOver() time.Time { return c.last.Add(2 * c.until.Sub(c.last)) }
