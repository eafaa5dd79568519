package reconcile

import (
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// The findings of a reconciliation are what the status reports, and when to look again.
type findings struct {
	problems []status.Problem
	// kept are sentences about children that stay for a file that waits or cannot be rendered;
	// keptFailed is true if one cannot be rendered.
	kept       []string
	keptFailed bool
	// requeue is when to look again without an event; 0: not at all.
	requeue time.Duration
}

func (f *findings) add(p status.Problem) { f.problems = append(f.problems, p) }

// fileOf returns the template that the first problem with a reason is about.
func (f *findings) fileOf(reason string) string {
	for _, p := range f.problems {
		if p.Reason == reason && p.File != "" {
			return p.File
		}
	}
	return ""
}

// addUnknown reports that something cannot be found out.
func (f *findings) addUnknown(message string) {
	f.requeueAfter(10 * time.Second)
	f.add(status.Problem{Severity: status.Waiting, Reason: api.ReasonChildrenUnknown, Message: message})
}

// requeueAfter makes sure that the resource is reconciled again after d at the latest.
func (f *findings) requeueAfter(d time.Duration) {
	if d > 0 && (f.requeue == 0 || d < f.requeue) {
		f.requeue = d
	}
}

// dateProblems notes since when each problem is there, so that what is new comes first.
func (m *published) dateProblems(problems []status.Problem) {
	m.reports++
	since := map[string]int64{}
	for i, p := range problems {
		key := p.Reason + ": " + p.Message
		if since[key] = m.reports; m.since[key] > 0 {
			since[key] = m.since[key]
		}
		problems[i].Since = since[key]
	}
	m.since = since
}

// announcedProblem notes which problems there are, and returns those that were not there
// when this was asked last. What is waited for is progress, and not among them.
func (m *published) announcedProblem(problems []status.Problem) (news []status.Problem) {
	now := map[string]bool{}
	for _, p := range problems {
		key := p.Reason + ": " + p.Message
		if now[key] = true; !m.problems[key] && p.Severity != status.Waiting {
			news = append(news, p)
		}
	}
	m.problems = now
	return news
}
