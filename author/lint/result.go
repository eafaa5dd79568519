package lint

import (
	"context"
	"fmt"
	"path"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/pack"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Result is what there is to say of a kind.
type Result struct {
	// Findings are what is wrong, causes first, without those that are silenced.
	Findings []typecheck.Finding
	Silenced []Silenced
	// Unchecked are what could not be checked.
	Unchecked []Note
	// Tried is how many resources of a cluster the CRD was tried with.
	Tried int
}

// A Note is something to know of a place; nothing is wrong there.
type Note struct {
	Place template.Place
	Text  string
}

// Look returns what there is to say of the kind of that name. Findings about an
// earlier state of it, if it is compared, come along.
func Look(ctx context.Context, c *catalog.Catalog, name string, compared ...typecheck.Finding) Result {
	l := &linter{catalog: c, name: name}
	var r Result
	if err := l.checkKind(ctx, &r); err != nil {
		l.findings = append(l.findings, findingsOf(typecheck.Syntax, err)...)
	}
	l.findings = append(l.findings, compared...)
	r.Findings, r.Silenced = l.applySilencers(l.finishFindings())
	return r
}

// checkKind makes all checks of the kind. A panic becomes an error of this kind, so that the others
// are still checked.
func (l *linter) checkKind(ctx context.Context, r *Result) (err error) {
	defer panics.Catch(&err, "checking "+l.name)
	l.checkTemplates()
	if l.catalog.Kinds[l.name] != nil {
		l.checkSamples(ctx)
		l.checkPacking()
	}
	r.Unchecked = l.uncheckedKinds()
	return nil
}

// checkPacking finds reasons why pack refuses the kind.
func (l *linter) checkPacking() {
	in := pack.Input{Kind: l.kind, Folder: l.catalog.Folder(l.name), CRD: l.catalog.Definition(l.name), Plural: l.catalog.Plural}
	for _, f := range findingsOf(Unpackable, pack.Check(in)) {
		if f.Place.File == "" {
			f.Place = template.Place{File: path.Join(l.catalog.Roots[l.name], "templates", l.name), Line: 1, Column: 1}
		}
		l.findings = append(l.findings, f)
	}
}

// Check returns what is wrong with the kind of that name, by file and line.
func Check(ctx context.Context, c *catalog.Catalog, name string) []typecheck.Finding {
	return Look(ctx, c, name).Findings
}

// uncheckedKinds returns the kinds of documents whose version no schema knows, each at its first
// document. A kind without a known plural is skipped, since it cannot be packed.
func (l *linter) uncheckedKinds() []Note {
	if l.flow == nil {
		return nil
	}
	var notes []Note
	seen := map[apischema.GroupVersionKind]bool{}
	for _, d := range l.childDocuments() {
		if seen[d.gvk] || l.catalog.Type(d.gvk) != nil || l.catalog.Plural(d.gvk) == "" {
			continue
		}
		seen[d.gvk] = true
		notes = append(notes, Note{d.root.Place,
			fmt.Sprintf("no schema knows %s, so nothing is said of its fields: put a CRD with this version into schemas/", d.kindAndVersion())})
	}
	return slices.Clip(notes)
}
