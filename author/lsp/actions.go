package lsp

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// codeActions returns the edits that correct findings.
func (s *Server) codeActions(_ context.Context, q *query) ([]codeAction, error) {
	all := []codeAction{}
	if q.catalog == nil {
		return all, nil
	}
	known, _, err := q.ownFindings(q.shown, q.inside, q.doc.text, func(*folder.Folder) {})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	known = append(append(known, q.allFindings()[q.shown]...), q.allFindings()[path.Dir(q.shown)]...)
	s.mu.Unlock()
	for _, d := range q.params.Context.Diagnostics {
		i := slices.IndexFunc(known, func(f typecheck.Finding) bool {
			return string(f.Class) == d.Code && strings.HasPrefix(d.Message, f.Text)
		})
		if i < 0 || d.Source != "jacquard" {
			continue
		}
		offers := []func(typecheck.Finding, diagnostic) *codeAction{
			q.replaceSuggested, q.createMissing, q.declareField, q.requireSpec, q.useIfNil, q.silenceFinding,
		}
		for _, offer := range offers {
			if a := offer(known[i], d); a != nil {
				a.Kind, a.Diagnostics = "quickfix", []diagnostic{d}
				s.endLines(a.Edit)
				all = append(all, *a)
			}
		}
	}
	return all, nil
}

// endLines ends the lines of an edit as those of its files end.
func (s *Server) endLines(e workspaceEdit) {
	for uri, edits := range e.Changes {
		if !strings.Contains(s.textOf(pathOf(uri)), "\r\n") {
			continue
		}
		for i := range edits {
			edits[i].NewText = strings.ReplaceAll(edits[i].NewText, "\n", "\r\n")
		}
	}
}

// newEditAction returns an action that writes a text into a file.
func newEditAction(title, uri string, where span, text string) *codeAction {
	return &codeAction{Title: title, Edit: workspaceEdit{Changes: map[string][]textEdit{uri: {{where, text}}}}}
}

// declareField returns an action that adds a field that templates read to the CRD. Its type is that
// of the child's field into which it is printed.
func (q *query) declareField(f typecheck.Finding, d diagnostic) *codeAction {
	cut := strings.LastIndexByte(f.Path, '.')
	if f.Class != typecheck.UnknownField || f.Read != "" || cut < 0 || q.crd == nil || q.crd.File == "" {
		return nil
	}
	written, name := q.schemaPath(), f.Path[cut+1:]
	for _, step := range splitPath(f.Path[:cut]) {
		if step == "[]" {
			written += ".items"
		} else {
			written += ".properties." + step
		}
	}
	file := q.absPath(q.crd.File)
	text := q.server.textOf(file)
	properties := valueAt(text, written+".properties")
	if properties == nil || properties.Kind != yamlv3.MappingNode || len(properties.Content) == 0 {
		return nil
	}
	where, added := insertBefore(text, properties, fmt.Sprintf("%s: {%s}", name, q.typeFor(name, offsetOf(q.doc.text, d.Range.Start))))
	return newEditAction(fmt.Sprintf("Declare %s in %s", f.Path, q.relativePath(file)), uriOf(file), where, added)
}

func typeInSchema(t *schema.Type) string {
	switch t.Kind() {
	case schema.KindInteger, schema.KindNumber, schema.KindBoolean:
		return "type: " + t.Kind().String()
	case schema.KindIntOrString:
		return "x-kubernetes-int-or-string: true"
	case schema.KindList:
		return "type: array, items: {" + typeInSchema(t.Elem()) + "}"
	case schema.KindFreeMap:
		return "type: object, additionalProperties: {" + typeInSchema(t.Elem()) + "}"
	case schema.KindObject:
		return "type: object, x-kubernetes-preserve-unknown-fields: true"
	}
	return "type: string"
}

// valueAt is the value of a YAML text at a path; nil if there is none.
func valueAt(text, at string) *yamlv3.Node {
	var doc yamlv3.Node
	if yamlv3.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	key := crdfile.Locate(doc.Content[0], at)
	return valueOf(doc.Content[0], key, at[strings.LastIndexByte(at, '.')+1:])
}

// valueOf is the value of a key, which must be called so.
func valueOf(n, key *yamlv3.Node, name string) *yamlv3.Node {
	for i, child := range n.Content {
		if child == key && n.Kind == yamlv3.MappingNode && i+1 < len(n.Content) && key.Value == name {
			return n.Content[i+1]
		}
		if found := valueOf(child, key, name); found != nil {
			return found
		}
	}
	return nil
}

// insertBefore returns an edit that inserts an entry before the first one of a map or list.
func insertBefore(text string, n *yamlv3.Node, entry string) (where span, added string) {
	first := n.Content[0]
	line, start := lineOf(text, first.Line)
	at := start + runeOffset(line, first.Column-1)
	if n.Style&yamlv3.FlowStyle != 0 {
		return spanOf(text, at, at), entry + ", "
	}
	if n.Kind == yamlv3.SequenceNode {
		at = start + strings.IndexByte(line, '-')
		entry = "- " + entry
	}
	return spanOf(text, at, at), entry + "\n" + strings.Repeat(" ", at-start)
}

// requireSpec returns an action that makes the spec required.
func (q *query) requireSpec(f typecheck.Finding, _ diagnostic) *codeAction {
	if f.Class != typecheck.Nil || q.crd == nil || q.absPath(q.crd.File) != q.doc.path ||
		!strings.HasPrefix(f.Text, "spec itself is not required") {
		return nil
	}
	root := valueAt(q.doc.text, q.schemaPath())
	if root == nil || len(root.Content) == 0 {
		return nil
	}
	entry := "required: [spec]"
	if list := valueAt(q.doc.text, q.schemaPath()+".required"); list != nil && len(list.Content) > 0 {
		root, entry = list, "spec"
	}
	where, added := insertBefore(q.doc.text, root, entry)
	return newEditAction("Add required: [spec]", q.doc.uri, where, added)
}

// useIfNil replaces default, which takes 0 and false for absent, or gives a value that may
// be absent an empty text in its place.
func (q *query) useIfNil(f typecheck.Finding, d diagnostic) *codeAction {
	from, to := offsetOf(q.doc.text, d.Range.Start), offsetOf(q.doc.text, d.Range.End)
	if operand := q.doc.text[from:to]; f.Class == typecheck.Nil && q.isTemplate() && wholeOperand.MatchString(operand) {
		empty := q.emptyOf(from, to)
		with := "(ifNil " + empty + " " + operand + ")"
		for _, a := range actionsOf(q.doc.text) {
			if a.from < from && from < a.to && strings.Trim(a.innerText(q.doc.text), "- ") == operand {
				with = with[1 : len(with)-1]
			}
		}
		return newEditAction("Use ifNil with "+empty, q.doc.uri, d.Range, with)
	}
	if f.Class != typecheck.Falsy || !strings.HasPrefix(q.doc.text[from:], "default") {
		return nil
	}
	return newEditAction("Use ifNil", q.doc.uri, spanOf(q.doc.text, from, from+len("default")), "ifNil")
}

// wholeOperand is a field, or a variable with its fields.
var wholeOperand = regexp.MustCompile(`^(\$\w*)?(\.\w+)+$|^\$\w+$`)

// silenceFinding returns an action that adds a comment above the line. The author has to complete
// its reason: until then the comment itself is a finding.
func (q *query) silenceFinding(f typecheck.Finding, d diagnostic) *codeAction {
	ofTheFolder := f.Class == typecheck.UnknownField && f.Read == "" && f.Path != "" && q.isTemplate()
	if !lint.Silenceable(f.Class) || f.Class == typecheck.Syntax || ofTheFolder || strings.Contains(q.inside, "/tests/") ||
		strings.HasPrefix(q.inside, "examples/") {
		return nil
	}
	line, start := lineOf(q.doc.text, d.Range.Start.Line+1)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	comment := fmt.Sprintf("# jacquard:ignore %s: ", f.Class)
	if q.isTemplate() {
		comment = fmt.Sprintf("{{- /* jacquard:ignore %s: */}}", f.Class)
	}
	return newEditAction(fmt.Sprintf("Silence %s: write a reason into the comment", f.Class), q.doc.uri, spanOf(q.doc.text, start, start),
		indent+comment+"\n")
}
