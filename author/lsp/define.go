package lsp

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/creachadair/jrpc2"
	yamlv3 "go.yaml.in/yaml/v3"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// findDefinition returns where the thing at a place is declared. For a property of a CRD, it
// returns where templates read it.
func (s *Server) findDefinition(_ context.Context, q *query) ([]location, error) {
	if q.catalog == nil {
		return nil, nil
	}
	if path := q.propertyAtCursor(); path != "" {
		return q.readsOf(path), nil
	}
	a, inside := q.actionAtCursor()
	if !inside || !q.isTemplate() {
		if at := q.inCRD(q.writtenPath()); at != nil {
			return []location{*at}, nil
		}
		return nil, nil
	}
	if l := literalAt(q.doc.text, a, q.offset); l != nil {
		return q.literalDefinition(l), nil
	}
	for _, s := range q.sightingsAtCursor() {
		if v, ok := s.node.(*parse.VariableNode); ok && s.step == 0 && v.Ident[0] != "$" {
			if at, found := q.declarationOf(v.Ident[0]); found {
				return []location{at}, nil
			}
		}
		for _, path := range s.resourcePaths() {
			if at := q.inCRD(path); at != nil {
				return []location{*at}, nil
			}
		}
	}
	return nil, nil
}

// writtenPath returns the path of the field of the resource whose key stands at a place in an
// example or in status.yaml. It returns "" if none does.
func (q *query) writtenPath() string {
	spot := spotAt(q.doc.text, q.offset)
	if q.crd == nil || spot == nil || spot.key == "" {
		return ""
	}
	path := ""
	switch {
	case q.isStatus():
		path = "status"
	case spot.gvk.Group != q.crd.Group || spot.gvk.Kind != q.crd.Kind:
		return ""
	}
	for _, step := range append(slices.Clone(spot.path), spot.key) {
		if step != "[]" {
			step = "." + step
		}
		path += step
	}
	return strings.TrimPrefix(path, ".")
}

// resourcePaths returns the paths of the resource whose unchanged values the node has.
func (s *sighting) resourcePaths() []string {
	var all []string
	for _, v := range s.values {
		if v.Exact && len(v.Sources) > 0 && v.Sources[0].Read == "" && v.Sources[0].Path != "" {
			all = append(all, v.Sources[0].Path)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(all)))
}

// declarationOf returns where a variable is declared before the place.
func (q *query) declarationOf(name string) (location, bool) {
	found := -1
	for _, a := range actionsOf(q.doc.text) {
		if a.from > q.offset {
			break
		}
		for _, m := range declared.FindAllStringSubmatchIndex(q.doc.text[a.from:a.to], -1) {
			for _, group := range []int{2, 4} {
				if m[group] >= 0 && q.doc.text[a.from+m[group]:a.from+m[group+1]] == name {
					found = a.from + m[group]
				}
			}
		}
	}
	if found < 0 {
		return location{}, false
	}
	return location{q.doc.uri, spanOf(q.doc.text, found, found+len(name))}, true
}

// schemaPath is the path in a CRD of the schema of the version that templates see.
func (q *query) schemaPath() string {
	at := 0
	for i, v := range q.crd.Object.Spec.Versions {
		if v.Name == q.definitionVersion().Name {
			at = i
		}
	}
	return fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", at)
}

// inCRD is where the CRD declares a field of the resource; nil if it does not.
func (q *query) inCRD(path string) *location {
	if path == "" || q.crd == nil || q.crd.File == "" || strings.HasPrefix(path, "metadata") {
		return nil
	}
	file := q.absPath(q.crd.File)
	text := q.server.textOf(file)
	var doc yamlv3.Node
	if yamlv3.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	written := q.schemaPath()
	name := ""
	for _, step := range splitPath(path) {
		switch name = step; step {
		case "[]":
			written += ".items"
		case "*":
			written += ".additionalProperties"
		default:
			written += ".properties." + step
		}
	}
	node := crdfile.Locate(doc.Content[0], written)
	if node.Value != name && name != "[]" && name != "*" {
		return nil
	}
	return &location{uriOf(file), spanOfPlace(text, template.Place{Line: node.Line, Column: node.Column}, len([]rune(node.Value)))}
}

// propertyAtCursor returns the path of the field of the resource that stands at the place in a CRD,
// or "" if none does.
func (q *query) propertyAtCursor() string {
	if q.crd == nil || q.absPath(q.crd.File) != q.doc.path {
		return ""
	}
	var doc yamlv3.Node
	if yamlv3.Unmarshal([]byte(q.doc.text), &doc) != nil || len(doc.Content) == 0 {
		return ""
	}
	keys := keysAt(doc.Content[0], q.doc.text, q.offset)
	i := slices.Index(keys, "openAPIV3Schema")
	if i < 0 {
		return ""
	}
	path := ""
	for rest := keys[i+1:]; len(rest) > 0; {
		switch {
		case rest[0] == "properties" && len(rest) > 1:
			path, rest = path+"."+rest[1], rest[2:]
		case rest[0] == "items":
			path, rest = path+"[]", rest[1:]
		case rest[0] == "additionalProperties":
			path, rest = path+".*", rest[1:]
		default:
			return ""
		}
	}
	return strings.TrimPrefix(path, ".")
}

// keysAt are the keys down to the one that holds a byte; nil if no key does.
func keysAt(n *yamlv3.Node, text string, offset int) []string {
	for i := 0; i < len(n.Content); i++ {
		child := n.Content[i]
		if n.Kind != yamlv3.MappingNode {
			if keys := keysAt(child, text, offset); keys != nil {
				return append([]string{"[]"}, keys...)
			}
			continue
		}
		line, start := lineOf(text, child.Line)
		from := start + runeOffset(line, child.Column-1)
		if offset >= from && offset <= from+len(child.Value) {
			return []string{child.Value}
		}
		if keys := keysAt(n.Content[i+1], text, offset); keys != nil {
			return append([]string{child.Value}, keys...)
		}
		i++
	}
	return nil
}

// readsOf are the places of templates that read a field of the resource.
func (q *query) readsOf(path string) []location {
	if q.folder == nil {
		return nil
	}
	var some []string
	texts := map[string]string{}
	for _, f := range templatesOf(q.folder) {
		some = append(some, f.Shown)
		texts[f.Shown] = string(f.Data)
	}
	var all []location
	for _, s := range q.findSightings(some, mendText(q.doc.text), func(s typecheck.Sight) bool { _, ours := texts[s.File]; return ours }) {
		if _, call := s.node.(*parse.IdentifierNode); call || !slices.Contains(s.resourcePaths(), path) || s.step == 0 {
			continue
		}
		name := path[strings.LastIndexAny(path, ".]")+1:]
		at := location{uriOf(q.absPath(s.file)), spanOf(texts[s.file], s.to-len(name), s.to)}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return sortLocations(all)
}

// sortLocations sorts locations in place, by file and position, and returns them.
func sortLocations(all []location) []location {
	slices.SortFunc(all, func(a, b location) int {
		return cmp.Or(strings.Compare(a.URI, b.URI), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line),
			cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
	})
	return all
}

// literalDefinition is what a literal names.
func (q *query) literalDefinition(l *literal) []location {
	switch {
	case l.index == 0 && slices.Contains(namesPartial, l.function):
		return q.partialReferences(l.text, func(m mention) bool { return m.declares })
	case l.index == 0 && slices.Contains(namesFile, l.function):
		for _, f := range q.folder.Children {
			if f.Name == l.text+".yaml" {
				return []location{{URI: uriOf(q.absPath(f.Shown))}}
			}
		}
	case l.index == 0 && l.function == "file":
		for _, f := range q.folder.Files {
			if f.Name == "files/"+l.text {
				return []location{{URI: uriOf(q.absPath(f.Shown))}}
			}
		}
	case l.index == 0 && l.function == "config" && q.folder.Config != nil:
		var doc yamlv3.Node
		text := string(q.folder.Config.Data)
		if yamlv3.Unmarshal([]byte(text), &doc) == nil && len(doc.Content) > 0 {
			at := crdfile.Locate(doc.Content[0], l.text)
			place := template.Place{Line: at.Line, Column: at.Column}
			return []location{{uriOf(q.absPath(q.folder.Config.Shown)), spanOfPlace(text, place, len(l.text))}}
		}
	case l.index == 1 && slices.Contains(namesKind, l.function):
		gvk := apischema.FromAPIVersionAndKind(l.before[0], l.text)
		if name, file := q.catalog.Source(gvk.GroupKind()); name != "" {
			return []location{{URI: uriOf(q.absPath(file.Shown))}}
		}
	}
	return nil
}

// scopeOf returns the templates in which a partial of the document's folder may be named, each
// once. For a partial of templates/_lib they are those of all kinds.
func (q *query) scopeOf(name string) []folder.File {
	shared := slices.ContainsFunc(q.folder.Partials, func(f folder.File) bool {
		return folder.IsLib(f) && slices.ContainsFunc(q.findMentions(f, name), func(m mention) bool { return m.declares })
	})
	if !shared {
		return templatesOf(q.folder)
	}
	q.server.mu.Lock()
	defer q.server.mu.Unlock()
	var all []folder.File
	for _, kind := range sortedKeys(q.catalog.Roots) {
		f := q.currentFolder(kind)
		if f == nil {
			continue
		}
		for _, file := range templatesOf(f) {
			if !slices.ContainsFunc(all, func(other folder.File) bool { return other.Shown == file.Shown }) {
				all = append(all, file)
			}
		}
	}
	return all
}

// partialReferences returns the places that name a partial and for which want is true.
func (q *query) partialReferences(name string, want func(mention) bool) []location {
	var all []location
	for _, f := range q.scopeOf(name) {
		file := q.absPath(f.Shown)
		for _, m := range q.findMentions(f, name) {
			if want(m) {
				all = append(all, location{uriOf(file), spanOf(string(f.Data), m.from, m.to)})
			}
		}
	}
	return sortLocations(all)
}

// findReferences returns the places that name the thing at a place: a partial, a field of the
// resource, or a file of the folder.
func (s *Server) findReferences(_ context.Context, q *query) ([]location, error) {
	if q.catalog == nil || q.folder == nil {
		return nil, nil
	}
	paths := []string{q.propertyAtCursor()}
	if a, inside := q.actionAtCursor(); q.isTemplate() && inside {
		l := literalAt(q.doc.text, a, q.offset)
		switch {
		case l != nil && l.index == 0 && slices.Contains(namesPartial, l.function):
			return q.partialReferences(l.text, func(m mention) bool { return q.params.Context.IncludeDeclaration || !m.declares }), nil
		case l != nil && l.index == 0 && slices.Contains(namesFile, l.function):
			return q.fileReferences(l.text), nil
		case l != nil:
			return nil, nil
		}
		if found := q.sightingsAtCursor(); len(found) > 0 {
			paths = found[0].resourcePaths()
		}
	}
	var all []location
	for _, path := range paths {
		if path == "" {
			continue
		}
		all = append(all, q.readsOf(path)...)
		if at := q.inCRD(path); at != nil && q.params.Context.IncludeDeclaration {
			all = append(all, *at)
		}
	}
	return all, nil
}

// fileReferences returns the places that name a file of the folder.
func (q *query) fileReferences(name string) []location {
	var all []location
	for _, f := range templatesOf(q.folder) {
		text := string(f.Data)
		for _, m := range fileName.FindAllStringSubmatchIndex(text, -1) {
			if text[m[2]:m[3]] == name {
				all = append(all, location{uriOf(q.absPath(f.Shown)), spanOf(text, m[2], m[3])})
			}
		}
	}
	return sortLocations(all)
}

// partialAtCursor returns the name of a partial that stands at the place, or nil if none does.
func (q *query) partialAtCursor() *literal {
	a, inside := q.actionAtCursor()
	if q.catalog == nil || !q.isTemplate() || !inside {
		return nil
	}
	l := literalAt(q.doc.text, a, q.offset)
	if l == nil || l.index != 0 || !slices.Contains(namesPartial, l.function) {
		return nil
	}
	return l
}

func (s *Server) prepareRename(_ context.Context, q *query) (any, error) {
	l := q.partialAtCursor()
	if l == nil {
		return nil, nil
	}
	return map[string]any{"range": spanOf(q.doc.text, l.from, l.to), "placeholder": l.text}, nil
}

// renamePartial gives a partial another name wherever it is named.
func (s *Server) renamePartial(_ context.Context, q *query) (*workspaceEdit, error) {
	refuse := func(format string, args ...any) (*workspaceEdit, error) {
		return nil, &jrpc2.Error{Code: errRefused, Message: fmt.Sprintf(format, args...)}
	}
	l := q.partialAtCursor()
	if l == nil {
		return refuse("only partials can be renamed: place the cursor on the name in define or include")
	}
	to := q.params.NewName
	if strings.TrimSpace(to) == "" || strings.ContainsAny(to, "\"`\\\n") {
		return refuse("%q cannot be the name of a partial: it must be a text without quotation marks and backslashes", to)
	}
	if to == l.text {
		return nil, nil
	}
	scope := q.scopeOf(l.text)
	for _, f := range scope {
		if slices.ContainsFunc(q.findMentions(f, to), func(m mention) bool { return m.declares }) {
			return refuse("%s defines %q already", f.Shown, to)
		}
		s.mu.Lock()
		computed := q.texts.mentionsOf(f).any
		s.mu.Unlock()
		if computed {
			return refuse("%s includes partials by computed names, which may be this one: rename it by hand", f.Shown)
		}
	}
	edit := &workspaceEdit{Changes: map[string][]textEdit{}}
	for _, at := range q.partialReferences(l.text, func(mention) bool { return true }) {
		edit.Changes[at.URI] = append(edit.Changes[at.URI], textEdit{at.Range, to})
	}
	return edit, nil
}

// relativePath returns the path of a file as seen from a root, for people.
func (sp *space) relativePath(file string) string {
	if shown, _, ok := sp.shownPath(file); ok {
		return shown
	}
	return filepath.Base(file)
}
