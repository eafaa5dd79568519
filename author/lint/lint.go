package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// checkTemplates checks everything except what samples show.
func (l *linter) checkTemplates() {
	c, name := l.catalog, l.name
	l.texts = linesByFile(c, name)
	l.findings = Findings(c.Broken[name])
	k := followableKind(c, name)
	if k == nil {
		return
	}
	l.kind, l.flow = k, flowOf(c, k, schema.Root(k.Version))
	l.findings = slices.DeleteFunc(l.findings, l.isFollowed)
	l.findings = append(l.findings, l.flow.Findings...)
	l.checkDocuments()
	l.checkNewest()
	l.checkOscillation()
	l.optionalSpec()
	l.checkCRD()
	l.checkStatus()
	l.checkUnused()
	l.checkHealth()
}

// isFollowed reports whether a finding of loading is one of the flow too, which says more
// of it.
func (l *linter) isFollowed(loading typecheck.Finding) bool {
	return loading.Class == typecheck.UnknownField && slices.ContainsFunc(l.flow.Findings, func(f typecheck.Finding) bool {
		return f.Place == loading.Place
	})
}

// flowOf follows the templates of a kind, whose resources are of type root, with
// all types that a catalog knows.
func flowOf(c *catalog.Catalog, k *kind.Kind, root *schema.Type) *typecheck.Flow {
	in := typecheck.InputOf(k)
	in.Live, in.Root = c.Type, root
	return typecheck.Follow(in)
}

// statusFile is the name of status.yaml's tree.
const statusFile = "status"

// A linter collects the findings of one kind.
type linter struct {
	catalog  *catalog.Catalog
	name     string
	kind     *kind.Kind
	flow     *typecheck.Flow
	texts    map[string][]string // the lines of the folder's files
	findings []typecheck.Finding
}

// add adds a finding.
func (l *linter) add(class typecheck.Class, place template.Place, text string) {
	l.findings = append(l.findings, typecheck.Finding{Class: class, Place: place, Text: text})
}

// consequences are the classes of what mostly follows from others: these come
// first.
var consequences = map[typecheck.Class]int{
	Unpackable: 1, Example: 1, Golden: 1, UnusedField: 2, UnusedPartial: 2, UnusedRule: 2, InvalidIgnore: 3,
}

// finishFindings returns the findings in order, causes first, each once and with its length.
func (l *linter) finishFindings() []typecheck.Finding {
	all := l.findings
	for i := range all {
		l.completeFinding(&all[i])
	}
	slices.SortStableFunc(all, func(a, b typecheck.Finding) int {
		return cmp.Or(cmp.Compare(consequences[a.Class], consequences[b.Class]), cmp.Compare(a.Place.File, b.Place.File),
			cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Text, b.Text))
	})
	type key struct {
		class typecheck.Class
		place template.Place
		text  string
	}
	seen, unknown := map[key]bool{}, map[template.Place]bool{}
	for _, f := range all {
		unknown[f.Place] = unknown[f.Place] || f.Class == typecheck.UnknownField
	}
	return slices.DeleteFunc(all, func(f typecheck.Finding) bool {
		if f.Class == typecheck.Nil && unknown[f.Place] {
			return true // what there is not is absent, too
		}
		k := key{f.Class, f.Place, f.Text}
		if strings.HasSuffix(f.Place.File, ".tpl") {
			k.text = ofPartial(f.Text)
		}
		if f.Class == typecheck.Nil {
			k.text = "" // whatever it hurts: it is one value that may be absent
		}
		was := seen[k]
		seen[k] = true
		return was
	})
}

var (
	objectKind = regexp.MustCompile(`\b[A-Z]\w+ (?:[\w.-]+/)?v\d\w*`)
	inPath     = regexp.MustCompile(`(?:[\w\[\]*-]+\.)+([\w-]+)`)
)

// ofPartial is what is said of a partial's line wherever it is called: without
// the objects and the paths that it is put into.
func ofPartial(text string) string {
	return inPath.ReplaceAllString(objectKind.ReplaceAllString(text, "it"), "$1")
}
