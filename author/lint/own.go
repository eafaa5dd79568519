package lint

import (
	"slices"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// together are the classes of what several files, a sample or the CRD show.
var together = []typecheck.Class{
	NameCollision, Contended, UnusedField, UnusedPartial, UnusedRule, Example, Golden, Unpackable, InvalidIgnore, BreakingCRD,
}

// Together reports whether several files, a sample or the CRD show findings of a class:
// Own does not give them.
func Together(class typecheck.Class) bool { return slices.Contains(together, class) }

// Own returns those findings of Check about one file that the file itself shows: an
// editor tells them at each keystroke. Of the other files of its folder, the catalog need
// only have those that the file calls and names.
func Own(c *catalog.Catalog, name, file string) []typecheck.Finding {
	l := &linter{catalog: c, name: name}
	l.checkTemplates()
	loud, _ := l.applySilencers(l.finishFindings())
	return slices.DeleteFunc(loud, func(f typecheck.Finding) bool {
		return f.Place.File != file || Together(f.Class)
	})
}
