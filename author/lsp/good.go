package lsp

import (
	"slices"

	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// A good is what was found of a kind when it loaded, and the texts, by file, in which it
// was found.
type good struct {
	findings []typecheck.Finding
	texts    map[string]string
}

func goodOf(found []typecheck.Finding, text func(shown string) string) good {
	g := good{found, map[string]string{}}
	for _, f := range found {
		if _, read := g.texts[f.Place.File]; !read {
			g.texts[f.Place.File] = text(f.Place.File)
		}
	}
	return g
}

// keepFindings returns the findings that still hold while the kind does not load. These are all
// findings of files that did not change since. Of other files, they are those that a file does not
// show by itself. If the kind can be followed, they are only those of checks that cannot run, such
// as samples.
func (g good) keepFindings(now []typecheck.Finding, followed bool, text func(shown string) string) []typecheck.Finding {
	var all []typecheck.Finding
	for _, f := range g.findings {
		untried := f.Class == lint.Example || f.Class == lint.Golden || f.Class == lint.Unpackable
		if followed && !untried || slices.Contains(now, f) {
			continue
		}
		switch current := text(f.Place.File); {
		case current == g.texts[f.Place.File]:
			all = append(all, f)
		case lint.Together(f.Class):
			all = append(all, moveFindings([]typecheck.Finding{f}, g.texts[f.Place.File], current, false)...)
		}
	}
	return all
}
