//go:build !operator

package cli

import (
	"strings"

	"github.com/jacquard-operator/jacquard/author/lint"
)

// formatMarkdown returns what was found, for a comment on a pull request. What a change breaks
// comes first.
func (p *findingPrinter) formatMarkdown(l linted) *markdown {
	p.colour = false
	var breaking, others, silenced, unchecked strings.Builder
	for _, f := range l.listFindings() {
		if f.Class == lint.BreakingCRD || f.Class == lint.DroppedKind {
			breaking.WriteString(p.quoteFinding(f))
		} else {
			others.WriteString(p.quoteFinding(f))
		}
	}
	for _, f := range l.listSilenced() {
		silenced.WriteString(f.Error() + " (" + string(f.Class) + "): " + f.reason + "\n")
	}
	for _, f := range l.listUnchecked() {
		unchecked.WriteString(f.Error() + "\n")
	}
	m := &markdown{}
	m.addText("### Lint: %s", formatSummary(l))
	for _, part := range []struct{ title, text string }{
		{"Breaking changes", breaking.String()}, {"Findings", others.String()},
		{"Silenced by comments", silenced.String()}, {"Not checked", unchecked.String()},
	} {
		if part.text != "" {
			m.addText("%s:", part.title)
			m.addFence("text", part.text)
		}
	}
	return m
}
