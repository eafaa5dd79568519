//go:build !operator

package cli

import (
	"strings"

	"github.com/jacquard-operator/jacquard/author/lint"
)

// markdown is what was found, for a comment on a pull request; what a change breaks
// comes first.
func (p *findingPrinter) markdown(l linted) *markdown {
	p.colour = false
	var breaking, others, silenced, unchecked strings.Builder
	for _, f := range l.findings() {
		if f.Class == lint.BreakingCRD || f.Class == lint.DroppedKind {
			breaking.WriteString(p.quoted(f))
		} else {
			others.WriteString(p.quoted(f))
		}
	}
	for _, f := range l.silenced() {
		silenced.WriteString(f.Error() + " (" + string(f.Class) + "): " + f.reason + "\n")
	}
	for _, f := range l.unchecked() {
		unchecked.WriteString(f.Error() + "\n")
	}
	m := &markdown{}
	m.say("### Lint: %s", summary(l))
	for _, part := range []struct{ title, text string }{
		{"Breaking changes", breaking.String()}, {"Findings", others.String()},
		{"Silenced by comments", silenced.String()}, {"Not checked", unchecked.String()},
	} {
		if part.text != "" {
			m.say("%s:", part.title)
			m.fence("text", part.text)
		}
	}
	return m
}
