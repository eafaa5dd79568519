package lsp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/typecheck"
)

// hoverAt describes what stands at a place.
func (s *Server) hoverAt(_ context.Context, q *query) (*hover, error) {
	if q.catalog == nil {
		return nil, nil
	}
	if a, inside := q.actionAtCursor(); q.isTemplate() && inside {
		if l := literalAt(q.doc.text, a, q.offset); l != nil {
			return q.literalHover(l), nil
		}
		if h := q.keywordHover(a); h != nil {
			return h, nil
		}
		return q.nodeHover(), nil
	}
	spot := spotAt(q.doc.text, q.offset)
	if spot == nil || spot.key == "" {
		return nil, nil
	}
	t, note := q.typeOf(q.doc.text, q.shown, spot, deepestCall)
	field, found := t.Field(spot.key)
	if t == nil || !found {
		return nil, nil
	}
	text := fenceCode("", strings.Join(append(slices.Clone(spot.path), spot.key), ".")+": "+typeText(field))
	return &hover{Contents: markdownOf(strings.TrimSpace(text + "\n" + note(field, spot.key)))}, nil
}

// keywordNotes say what keywords do.
var keywordNotes = map[string]string{
	"if":       "`if x` prints what follows, up to `else` or `end`, if x is not empty: not nil, false, 0, \"\" or an empty collection.",
	"else":     "`else` begins what is printed otherwise; `else if x` asks again.",
	"end":      "`end` closes the last `if`, `with`, `range`, `define` or `block` that is open.",
	"range":    "`range l` prints what follows once for each item of a list or map, with the item as `.`; after `else`, if there is none.",
	"with":     "`with x` prints what follows, with x as `.`, if x is not empty.",
	"define":   "`define \"name\"` begins a partial, which `include \"name\" x` prints with x as `.`.",
	"template": "`template \"name\" x` prints a partial with x as `.`, as text.",
	"block":    "`block \"name\" x` defines a partial and prints it here with x as `.`.",
	"break":    "`break` ends the `range` that it stands in.",
	"continue": "`continue` begins the next turn of the `range` that it stands in.",
}

// keywordHover tells of the keyword of an action; nil if the place is not on one.
func (q *query) keywordHover(a action) *hover {
	from := a.from + 2 + firstWord.FindStringSubmatchIndex(a.innerText(q.doc.text))[2]
	to := from + len(a.word)
	if note := keywordNotes[a.word]; note != "" && from <= q.offset && q.offset <= to {
		where := spanOf(q.doc.text, from, to)
		return &hover{markdownOf(note), &where}
	}
	return nil
}

// nodeHover tells of a field, a variable or a function.
func (q *query) nodeHover() *hover {
	found := q.sightingsAtCursor()
	if len(found) == 0 {
		return nil
	}
	s := found[0]
	text := q.doc.text[s.from:min(s.to, len(q.doc.text))]
	where := spanOf(q.doc.text, s.from, s.to)
	var b strings.Builder
	if fn, ok := s.node.(*parse.IdentifierNode); ok {
		b.WriteString(functions()[fn.Ident].describeFunction())
	} else {
		b.WriteString(fenceCode("", text+": "+q.typesOf(s.values)))
	}
	for _, v := range s.values {
		if note := describeField(v, v.Type, ""); note != "" {
			b.WriteString("\n" + note + "\n")
			break
		}
	}
	var from []string
	absent := false
	for _, v := range s.values {
		absent = absent || v.Nil
		for _, source := range v.Sources {
			if text := sourceText(source, q.crd.Kind); !slices.Contains(from, text) {
				from = append(from, text)
			}
		}
	}
	if absent {
		b.WriteString("\nIt may be absent.\n")
	}
	if len(from) > 0 {
		verb := "Comes from "
		if _, isVariable := s.node.(*parse.IdentifierNode); isVariable {
			verb = "The result comes from "
		}
		fmt.Fprintf(&b, "\n%s%s.\n", verb, strings.Join(from, ", "))
	}
	if place := q.declaredAt(s); place != "" {
		b.WriteString("\nDeclared at " + place + ".\n")
	}
	return &hover{markdownOf(strings.TrimSpace(b.String())), &where}
}

// typesOf are the types of some values, each once.
func (q *query) typesOf(values []*typecheck.Value) string {
	var all []string
	for _, v := range values {
		text := typeText(v.Type)
		if v.Known {
			text = fmt.Sprintf("%#v", v.Const)
			if v.Const == nil {
				text = "nil"
			}
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " or ")
}

// declaredAt is where the CRD declares what a node reads of the resource.
func (q *query) declaredAt(s *sighting) string {
	for _, path := range s.resourcePaths() {
		if at := q.inCRD(path); at != nil {
			return fmt.Sprintf("%s:%d", q.crd.File, at.Range.Start.Line+1)
		}
	}
	return ""
}

// literalHover tells of what a literal names.
func (q *query) literalHover(l *literal) *hover {
	where := spanOf(q.doc.text, l.from, l.to)
	var text string
	switch {
	case l.index == 0 && slices.Contains(namesPartial, l.function):
		for _, f := range templatesOf(q.folder) {
			for _, m := range q.findMentions(f, l.text) {
				if m.declares {
					text = fmt.Sprintf("Partial `%s`, %s:%d\n", l.text, f.Shown, lineAt(string(f.Data), m.from)) +
						fenceCode("", firstLines(string(f.Data)[m.action.to:]))
				}
			}
		}
	case l.index == 0 && slices.Contains(namesFile, l.function):
		for _, f := range q.folder.Children {
			if f.Name == l.text+".yaml" {
				var kinds []string
				for _, gvk := range kindsMadeBy(string(f.Data)) {
					kinds = append(kinds, gvk.Kind+" "+gvk.GroupVersion().String())
				}
				text = fmt.Sprintf("`%s` makes: %s", f.Shown, strings.Join(kinds, ", "))
			}
		}
	case l.index == 0 && l.function == "config":
		if value, set := q.configValues()[l.text]; set {
			text = fmt.Sprintf("Setting `%s`; its default in config.yaml is `%v`", l.text, value)
		}
	}
	if text == "" {
		return nil
	}
	return &hover{markdownOf(text), &where}
}

// firstLines are those of the body of a partial.
func firstLines(body string) string {
	const most = 8
	lines := strings.Split(strings.Trim(body, "\r\n"), "\n")
	if end := slices.IndexFunc(lines, endsPartial.MatchString); end >= 0 {
		lines = lines[:end+1]
	}
	if len(lines) > most {
		lines = append(lines[:most:most], "…")
	}
	return strings.Join(lines, "\n")
}

// endsPartial is a line that, by its indentation, ends the define.
var endsPartial = regexp.MustCompile(`^\{\{-? *end *-?\}\}`)

// namesPartial are the functions and words whose first argument names a partial.
var namesPartial = []string{"include", "template", "define", "block"}
