package lsp

import (
	"strings"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// rangeOf is what of a text a finding is about: it stays within its line, and in a
// template within the action that it is about, without the braces.
func (sp *space) rangeOf(f typecheck.Finding, text string) span {
	where := spanOfPlace(text, f.Place, f.Length)
	from, to := offsetOf(text, where.Start), offsetOf(text, where.End)
	line, start := lineOf(text, max(f.Place.Line, 1))
	to = max(from, min(to, start+len(strings.TrimRight(line, "\r"))))
	parts := strings.Split(f.Place.File, "/")
	if name := parts[len(parts)-1]; name == "kind.yaml" || name == "config.yaml" || strings.Contains(f.Place.File, "/tests/") ||
		!strings.Contains("/"+f.Place.File, "/templates/") {
		return spanOf(text, from, to)
	}
	var about *action
	for _, a := range actionsOf(text) {
		holds := a.from <= from && from < a.to
		onLine := lineAt(text, a.from) == f.Place.Line
		if holds {
			about = &a
		}
		if f.Class == typecheck.Syntax && onLine && a.closed && !a.comment && !a.isSound(text) {
			about = &a
			if !holds {
				from, to = a.from, a.to
			}
			break
		}
	}
	if about == nil {
		return spanOf(text, from, to)
	}
	inner := about.innerText(text)
	first := about.from + 2 + len(inner) - len(strings.TrimLeft(inner, "- \t\r\n"))
	last := about.from + 2 + len(strings.TrimRight(inner, "- \t\r\n"))
	if f.Class == typecheck.Syntax {
		from = max(from, first)
	}
	return spanOf(text, from, max(from, min(to, last)))
}
