package lint

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/flow"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/offline"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// The classes of findings that this package adds to those of engine/flow.
const (
	DoesNotFit    flow.Class = "does-not-fit"   // a value of another type than the child's field
	InvalidChild  flow.Class = "invalid-child"  // a child that its type refuses
	TooLong       flow.Class = "too-long"       // a name or label that can outgrow its limit
	JobTTL        flow.Class = "job-ttl"        // a Job that goes by itself and would be made again
	Annotation    flow.Class = "annotation"     // an annotation that means nothing
	Braces        flow.Class = "braces"         // {{{
	Contended     flow.Class = "contended"      // a field that an autoscaler and the template both write
	RemovedAPI    flow.Class = "removed-api"    // a child of an API that Kubernetes no longer has
	StatusDropped flow.Class = "status-dropped" // status that the CRD's schema drops or refuses
	UnusedField   flow.Class = "unused-field"   // a field of the spec that nothing reads
	UnusedPartial flow.Class = "unused-partial" // a define that nothing calls
	Example       flow.Class = "example"        // an example that is invalid or does not render
	Golden        flow.Class = "golden"         // a golden case that cannot be run
)

// Check returns what is wrong with the kind of that name, by file and line.
func Check(ctx context.Context, c *offline.Catalog, name string) []flow.Finding {
	l := follow(c, name)
	if c.Kinds[name] != nil {
		l.samples(ctx)
	}
	return l.finished()
}

// follow checks all but what samples show.
func follow(c *offline.Catalog, name string) *linter {
	l := &linter{catalog: c, name: name, texts: texts(c, name)}
	l.findings = Findings(c.Broken[name])
	k := c.Kinds[name]
	if k == nil {
		k = c.Understood(name)
		// Following it says this again, and more of it.
		l.findings = slices.DeleteFunc(l.findings, func(f flow.Finding) bool { return k != nil && f.Class == flow.UnknownField })
	}
	if k == nil {
		return l
	}
	l.kind, l.flow = k, flowOf(c, k)
	l.findings = append(l.findings, l.flow.Findings...)
	l.documents()
	l.crd()
	l.status()
	l.unused()
	return l
}

// flowOf follows the templates of a kind with all types that a catalog knows.
func flowOf(c *offline.Catalog, k *kind.Kind) *flow.Flow {
	in := k.FlowInput()
	in.Live = c.Type
	return flow.Follow(in)
}

// statusFile is the name of status.yaml's tree.
const statusFile = "status"

// A linter collects the findings of one kind.
type linter struct {
	catalog  *offline.Catalog
	name     string
	kind     *kind.Kind
	flow     *flow.Flow
	texts    map[string][]string // the lines of the folder's files
	findings []flow.Finding
}

// add adds a finding.
func (l *linter) add(class flow.Class, place template.Place, text string) {
	l.findings = append(l.findings, flow.Finding{Class: class, Place: place, Text: text})
}

// consequences are the classes of what mostly follows from others: these come
// first.
var consequences = map[flow.Class]int{Example: 1, Golden: 1, UnusedField: 2, UnusedPartial: 2}

// finished gives the findings in order, causes first, each once and with its
// length.
func (l *linter) finished() []flow.Finding {
	all := l.findings
	for i := range all {
		l.complete(&all[i])
	}
	slices.SortStableFunc(all, func(a, b flow.Finding) int {
		return cmp.Or(cmp.Compare(consequences[a.Class], consequences[b.Class]), cmp.Compare(a.Place.File, b.Place.File), cmp.Compare(a.Place.Line, b.Place.Line),
			cmp.Compare(a.Place.Column, b.Place.Column), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Text, b.Text))
	})
	type key struct {
		class flow.Class
		place template.Place
		text  string
	}
	seen := map[key]bool{}
	return slices.DeleteFunc(all, func(f flow.Finding) bool {
		k := key{f.Class, f.Place, f.Text}
		if strings.HasSuffix(f.Place.File, ".tpl") {
			k.text = ofPartial(f.Text)
		}
		if f.Class == flow.Nil {
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
