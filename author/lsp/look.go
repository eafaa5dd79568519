package lsp

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/template/parse"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A query is what is asked about a place in a document, and what there is to answer it.
type query struct {
	*space
	ctx           context.Context
	doc           *document
	params        documentParams
	offset        int
	shown, inside string
	// catalog is that of the last check; nil if nothing could be read.
	catalog *catalog.Catalog
	// name is the kind that the document belongs to, folder its files with those of the
	// editor, and crd its last sound definition; each may be missing.
	name   string
	folder *folder.Folder
	crd    *schema.CRD
}

// newQuery returns a query about a place in a document.
func (sp *space) newQuery(ctx context.Context, doc *document, p documentParams) *query {
	q := &query{space: sp, ctx: ctx, doc: doc, params: p, offset: offsetOf(doc.text, p.Position)}
	q.shown, q.inside, _ = sp.shownPath(doc.path)
	sp.server.logError(sp.ensureCatalog())
	sp.server.mu.Lock()
	defer sp.server.mu.Unlock()
	q.catalog, q.name = sp.catalog, kindOf(q.inside)
	if q.catalog == nil {
		return q
	}
	if strings.HasPrefix(q.inside, "templates/"+folder.LibName+"/") {
		q.name = sp.callsLib(q.shown)
	}
	q.folder, q.crd = sp.currentFolder(q.name), sp.crds[q.name]
	return q
}

// callsLib is the first kind that calls a partial of templates/_lib.
func (sp *space) callsLib(shown string) string {
	for _, name := range sortedKeys(sp.catalog.Roots) {
		if f := sp.currentFolder(name); f != nil && len(sp.texts.callersOf(f, shown)) > 1 {
			return name
		}
	}
	return ""
}

// isTemplate reports whether the document is a template of a kind.
func (q *query) isTemplate() bool {
	return q.folder != nil && slices.ContainsFunc(templatesOf(q.folder), func(f folder.File) bool { return f.Shown == q.shown })
}

// A sighting is what a node of a template is found to be.
type sighting struct {
	file     string
	from, to int // of the node's text up to the step, in bytes
	step     int
	node     parse.Node
	values   []*typecheck.Value
}

// findSightings follows some templates of the folder, with another text of the document. It returns
// the sightings for which want is true, in the order of the files.
func (q *query) findSightings(some []string, text string, want func(typecheck.Sight) bool) []*sighting {
	if q.folder == nil || q.crd == nil {
		return nil
	}
	f := q.folderWithText(text)
	q.server.mu.Lock()
	small := q.texts.reduceFolder(f, some...)
	q.server.mu.Unlock()
	in := typecheck.Input{Root: schema.Any, Name: q.crd.Kind, Own: apischema.GroupKind{Group: q.crd.Group, Kind: q.crd.Kind},
		Live: q.catalog.Type, Quick: true, ClusterScoped: !q.crd.Namespaced, Stop: func() bool { return q.ctx.Err() != nil }}
	if v := q.definitionVersion(); v != nil {
		in.Root = schema.Root(v)
	}
	compiled := template.Input{Files: map[string]string{}, Config: q.configValues()}
	stems := map[string]string{}
	for _, file := range templatesOf(small) {
		name := file.Shown
		if slices.ContainsFunc(small.Partials, func(p folder.File) bool { return p.Shown == file.Shown }) {
			file.Data = []byte(mendText(string(file.Data)))
		} else {
			name = strings.TrimSuffix(file.Name, ".yaml")
			in.Files = append(in.Files, name)
			stems[name] = string(file.Data)
			file.Data = []byte(mendText(string(file.Data)))
		}
		compiled.Sources = append(compiled.Sources, template.Source{Name: name, File: file.Shown, Text: string(file.Data)})
	}
	for _, file := range small.Files {
		compiled.Files[path.Base(file.Name)] = string(file.Data)
	}
	in.Config = compiled.Config
	in.Makes = func(file string) []apischema.GroupVersionKind { return kindsMadeBy(stems[file]) }
	// With an error, which is a finding, the set has the trees of what parses.
	in.Set, _ = template.Compile(compiled)
	return collectSightings(in, want)
}

// collectSightings follows an input, and collects the sightings for which want is true.
func collectSightings(in typecheck.Input, want func(typecheck.Sight) bool) []*sighting {
	type key struct {
		node parse.Node
		step int
	}
	known := map[key]*sighting{}
	var all []*sighting
	in.Seen = func(s typecheck.Sight) {
		if !want(s) {
			return
		}
		one := known[key{s.Node, s.Step}]
		if one == nil {
			from := template.Offset(s.Node)
			one = &sighting{file: s.File, node: s.Node, step: s.Step, from: from}
			one.to = from + lengthToStep(s.Node, s.Step)
			known[key{s.Node, s.Step}] = one
			all = append(all, one)
		}
		if len(one.values) < mostValues {
			one.values = append(one.values, s.Value())
		}
	}
	typecheck.Follow(in)
	return all
}

// mostValues bounds how many values of a node are kept, of which most are alike.
const mostValues = 8

// lengthToStep returns how many bytes a node takes up to a step.
func lengthToStep(n parse.Node, step int) int {
	switch n := n.(type) {
	case *parse.FieldNode:
		return len("." + strings.Join(n.Ident[:min(step, len(n.Ident))], "."))
	case *parse.VariableNode:
		return len(strings.Join(n.Ident[:min(step+1, len(n.Ident))], "."))
	case *parse.ChainNode:
		return len("." + strings.Join(n.Field[:min(step, len(n.Field))], "."))
	case *parse.IdentifierNode:
		return len(n.Ident)
	}
	return 1
}

// folderWithText returns the folder with another text of the document. For a partial that nothing
// calls, it adds a caller.
func (q *query) folderWithText(text string) *folder.Folder {
	f := *q.folder
	f.Children, f.Partials = slices.Clone(f.Children), slices.Clone(f.Partials)
	for _, files := range [][]folder.File{f.Children, f.Partials} {
		for i := range files {
			if files[i].Shown == q.shown {
				files[i].Data = []byte(text)
			}
		}
	}
	if f.Status != nil && f.Status.Shown == q.shown {
		one := *f.Status
		one.Data = []byte(text)
		f.Status = &one
	}
	if strings.HasSuffix(q.shown, ".tpl") {
		var calls strings.Builder
		for _, name := range firstGroups(defineName, []byte(text)) {
			fmt.Fprintf(&calls, "{{ include %q . }}\n", name)
		}
		f.Children = append(f.Children, folder.File{Name: probeFile, Shown: probeFile, Data: []byte(calls.String())})
	}
	return &f
}

// probeFile calls partials as most files do: with the resource.
const probeFile = "probe.yaml"

// relevantTemplates returns the templates to follow to know the values in the document.
func (q *query) relevantTemplates() []string {
	if !strings.HasSuffix(q.shown, ".tpl") {
		return []string{q.shown}
	}
	q.server.mu.Lock()
	defer q.server.mu.Unlock()
	some := q.texts.callersOf(q.folder, q.shown)
	if len(some) == 1 {
		some = append(some, probeFile)
	}
	return some
}

// definitionVersion returns the version of the definition that templates see.
func (q *query) definitionVersion() *schema.Version {
	if q.crd == nil {
		return nil
	}
	if k := q.catalog.Kinds[q.name]; k != nil && k.CRD == q.crd {
		return k.Version
	}
	for _, v := range q.crd.Versions {
		if v.Storage {
			return v
		}
	}
	return nil
}

// configValues returns the settings of config.yaml.
func (q *query) configValues() map[string]any {
	if q.folder.Config == nil {
		return nil
	}
	file, err := catalog.Documents(q.folder.Config.Shown, string(q.folder.Config.Data))
	if err != nil || len(file) == 0 {
		return nil
	}
	return file[0]
}

// sightingsAtCursor returns the sightings whose text holds the place of the request, the shortest
// first.
func (q *query) sightingsAtCursor() []*sighting {
	if !q.isTemplate() {
		return nil
	}
	text := mendText(q.doc.text)
	found := q.findSightings(q.relevantTemplates(), text, func(s typecheck.Sight) bool {
		from := template.Offset(s.Node)
		return s.File == q.shown && from <= q.offset && q.offset <= from+lengthToStep(s.Node, 1<<20)
	})
	found = slices.DeleteFunc(found, func(s *sighting) bool { return q.offset > s.to })
	slices.SortStableFunc(found, func(a, b *sighting) int { return (a.to - a.from) - (b.to - b.from) })
	return found
}
