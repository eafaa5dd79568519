package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Severity decides who has to act on a problem, and so how it is retried.
type Severity int

// The severities, worst first.
const (
	// Stalled means that a person must change something.
	Stalled Severity = iota
	// Waiting means that nobody has to act: an event or a timer ends it.
	Waiting
	// Retry means that trying again may help, with back-off.
	Retry
)

// String returns the severity's name.
func (s Severity) String() string {
	switch s {
	case Stalled:
		return "Stalled"
	case Waiting:
		return "Waiting"
	case Retry:
		return "Retry"
	}
	return fmt.Sprintf("Severity(%d)", int(s))
}

// A Problem is why a resource is not as it should be. Reason is CamelCase; the
// message carries no times and nothing secret.
type Problem struct {
	Severity        Severity
	Reason, Message string
	// File is the template, with line and column, that it is about, for the log;
	// empty if it is about none.
	File string
	// Since is when it came up, as a number that grows; 0: it is not known. The
	// newest of the worst is told first.
	Since int64
}

// maxMessage is the longest message of a condition, in bytes, maxLine that of a
// change of one: events allow no more.
const (
	maxMessage = 8 << 10
	maxLine    = 1024
)

// withFailedChildren adds a problem for each child that will not become ready
// by waiting.
func withFailedChildren(problems []Problem, children []Child) []Problem {
	all := slices.Clone(problems)
	for _, c := range children {
		if c.Failed && !c.Ready {
			all = append(all, Problem{Severity: Stalled, Reason: api.ReasonChildFailed, Message: about(c)})
		}
	}
	return all
}

// sorted orders problems, worst first, then the newest, each once. Failed
// children come after the other stalled problems: those are more often the cause.
func sorted(problems []Problem) []Problem {
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(late(a), late(b)), cmp.Compare(b.Since, a.Since),
			strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(problems)
}

func late(p Problem) int {
	if p.Reason == api.ReasonChildFailed {
		return 1
	}
	return 0
}

// summary is the messages of the problems in their order, as many as fit.
func summary(problems []Problem) string {
	var texts []string
	for _, p := range problems {
		if !slices.Contains(texts, p.Message) {
			texts = append(texts, p.Message)
		}
	}
	return listing(texts, 0)
}

// listing joins texts, as many as fit, and says how many more there are.
func listing(texts []string, more int) string {
	const room = maxMessage - len("; and 1000000 more")
	s, shown := clip(texts[0], room), 1
	for _, t := range texts[1:] {
		if len(s)+len("; ")+len(t) > room {
			break
		}
		s += "; " + t
		shown++
	}
	if more += len(texts) - shown; more > 0 {
		s += fmt.Sprintf("; and %d more", more)
	}
	return s
}

// clip cuts a text to at most limit bytes, between characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
