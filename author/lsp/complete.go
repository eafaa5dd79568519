package lsp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// completeAt lists what may stand at a place.
func (s *Server) completeAt(_ context.Context, q *query) ([]completionItem, error) {
	if q.catalog == nil {
		return nil, nil
	}
	if !q.isTemplate() {
		return q.yamlItems(), nil
	}
	a, inside := q.actionAtCursor()
	switch {
	case !inside:
		return q.yamlItems(), nil
	case a.comment:
		return nil, nil
	}
	if l := literalAt(q.doc.text, a, q.offset); l != nil {
		return q.literalItems(l), nil
	}
	return q.expressionItems(a), nil
}

// actionAtCursor returns the action that holds the place. inside is false if none does.
func (q *query) actionAtCursor() (a action, inside bool) {
	for _, a := range actionsOf(q.doc.text) {
		if q.offset >= a.from+2 && (q.offset <= a.to-2 || !a.closed && q.offset <= a.to) {
			return a, true
		}
	}
	return a, false
}

// newItem returns a completion that replaces the typed word, including its part behind the place.
func (q *query) newItem(kind int, label string, from int) completionItem {
	to := q.offset
	if _, inside := q.actionAtCursor(); inside {
		to += len(identifier.FindString(q.doc.text[to:]))
	} else {
		to += len(plainWord.FindString(q.doc.text[to:]))
	}
	return completionItem{Label: label, Kind: kind, TextEdit: &textEdit{spanOf(q.doc.text, from, to), label}}
}

var (
	identifier = regexp.MustCompile(`^\w*`)
	plainWord  = regexp.MustCompile(`^[\w./-]*`)
)

// chained is what is written of an operand: a variable, and fields.
var chained = regexp.MustCompile(`(\$\w*)?((?:\.\w*)*)$`)

// probe is the name of a field that nobody has: what it is asked of is what is completed.
const probe = "zz__probe"

func (q *query) expressionItems(a action) []completionItem {
	typed := q.doc.text[a.from+2 : q.offset]
	m := chained.FindStringSubmatch(typed)
	if dot := strings.LastIndexByte(m[2], '.'); dot >= 0 {
		return q.fieldItems(a, q.offset-(len(m[2])-dot)+1)
	}
	if m[1] != "" {
		return q.variableItems(q.offset - len(m[1]))
	}
	word := regexp.MustCompile(`\w*$`).FindString(typed)
	from := q.offset - len(word)
	all := q.quotedItems(strings.TrimSuffix(typed, word), from)
	if strings.TrimLeft(strings.TrimSuffix(typed, word), "- ") == "" {
		for _, name := range keywords {
			if slices.Contains(inBlocks, name) && !q.isInBlock(name == "break" || name == "continue") {
				continue
			}
			all = append(all, q.newItem(itemKeyword, name, from))
		}
	}
	for _, name := range sortedKeys(functions()) {
		item := q.newItem(itemFunction, name, from)
		f := functions()[name]
		item.Detail, item.Documentation = f.args, documentationOf(f.describeFunction())
		all = append(all, item)
	}
	return all
}

// wantsName is the beginning of a call whose first argument is a name.
var wantsName = regexp.MustCompile(`\b(include|template|child|children|await|rendered|stable|file|config|lookup|select|hasAPI)\s+$`)

// quotedItems are names, with quotation marks, where a function that wants one stands before
// the place. They come first.
func (q *query) quotedItems(before string, from int) []completionItem {
	m := wantsName.FindStringSubmatch(before)
	if m == nil {
		return nil
	}
	var all []completionItem
	kind, names := q.literalChoices(&literal{function: m[1]})
	for _, name := range names {
		item := q.newItem(kind, `"`+name+`"`, from)
		item.SortText = " " + name
		all = append(all, item)
	}
	return all
}

// inBlocks are the keywords that stand in a block only.
var inBlocks = []string{"else", "end", "break", "continue"}

// isInBlock reports whether a block is open at the place, or, with loop, whether one of a loop is.
func (q *query) isInBlock(loop bool) bool {
	var open []string
	for _, a := range actionsOf(q.doc.text) {
		if a.to > q.offset {
			break
		}
		switch a.word {
		case "define", "block", "if", "with", "range":
			open = append(open, a.word)
		case "end":
			open = open[:max(0, len(open)-1)]
		}
	}
	return len(open) > 0 && (!loop || slices.Contains(open, "range"))
}

// documentationOf returns a documentation text as Markdown, or nil if it is empty.
func documentationOf(text string) *markup {
	if text == "" {
		return nil
	}
	m := markdownOf(text)
	return &m
}

// fieldItems are the fields of what stands before a dot; from is where the name begins.
func (q *query) fieldItems(a action, from int) []completionItem {
	if before := strings.TrimRight(q.doc.text[:from], "."); q.crd == nil && strings.HasSuffix(strings.TrimRight(before, " -"), "{{") {
		var all []completionItem
		for _, name := range []string{"apiVersion", "kind", "metadata", "spec"} {
			all = append(all, q.newItem(itemField, name, from))
		}
		return all
	}
	text := q.doc.text[:from] + probe
	text += strings.Repeat(")", max(0, countUnclosed(text[a.from:]))) + " }}"
	probed := func(names []string) bool { return len(names) > 0 && names[len(names)-1] == probe }
	found := q.findSightings(q.relevantTemplates(), mendText(text), func(s typecheck.Sight) bool {
		switch n := s.Node.(type) {
		case *parse.FieldNode:
			return probed(n.Ident) && s.Step == len(n.Ident)-1
		case *parse.VariableNode:
			return probed(n.Ident) && s.Step == len(n.Ident)-2
		case *parse.ChainNode:
			return probed(n.Field) && s.Step == len(n.Field)-1
		}
		return false
	})
	items := map[string]completionItem{}
	for _, s := range found {
		for _, v := range s.values {
			for _, name := range v.Type.Fields() {
				field, _ := v.Type.Field(name)
				item := q.newItem(itemField, name, from)
				item.Detail, item.Documentation = typeText(field), documentationOf(describeField(v, field, name))
				items[name] = item
			}
		}
	}
	var all []completionItem
	for _, name := range sortedKeys(items) {
		all = append(all, items[name])
	}
	return all
}

// describeField returns the documentation of a field of a value, from its schema or from
// Kubernetes.
func describeField(v *typecheck.Value, field *schema.Type, name string) string {
	if text := describeType(field); text != "" {
		return text
	}
	if !v.Exact || len(v.Sources) == 0 {
		return ""
	}
	path := v.Sources[0].Path
	if name != "" {
		path = strings.TrimPrefix(path+"."+name, ".")
	}
	kind, apiVersion, _ := strings.Cut(v.Sources[0].Read, " ")
	return builtInNote(apischema.FromAPIVersionAndKind(apiVersion, kind), splitPath(path))
}

// splitPath returns the steps of a path such as spec.ports[].name.
func splitPath(path string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(path, "[]", ".[]"), func(r rune) bool { return r == '.' })
}

// countUnclosed returns how many parentheses of an action are open.
func countUnclosed(text string) int {
	depth := 0
	var quote rune
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '`':
			quote = r
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
	}
	return depth
}

var declared = regexp.MustCompile(`(\$\w+)\s*(?:,\s*(\$\w+)\s*)?:=`)

// variableItems are the variables that are declared before the place, in blocks that are
// still open.
func (q *query) variableItems(from int) []completionItem {
	scopes := [][]string{{"$"}}
	for _, a := range actionsOf(q.doc.text) {
		if a.to > from {
			break
		}
		switch a.word {
		case "define", "block", "if", "with", "range":
			scopes = append(scopes, nil)
		case "end":
			scopes = scopes[:max(1, len(scopes)-1)]
		}
		for _, m := range declared.FindAllStringSubmatch(a.innerText(q.doc.text), -1) {
			scopes[len(scopes)-1] = append(scopes[len(scopes)-1], m[1:]...)
		}
	}
	var all []completionItem
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(scopes...)))) {
		if name != "" {
			all = append(all, q.newItem(itemVariable, name, from))
		}
	}
	return all
}

// A literal is a text in quotation marks that is an argument of a function.
type literal struct {
	function string
	// before are the arguments before it that are literal texts; index is its number.
	before []string
	index  int
	// from and to are where the text within the quotation marks begins and ends.
	from, to int
	text     string
	// quote is what begins it; open is true if no such one ends it.
	quote byte
	open  bool
}

var token = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"?|`[^`]*`?|[()|]|:?=|[^\\s()|\"`]+")

// literalAt is the literal of an action that holds a byte; nil if none does.
func literalAt(text string, a action, offset int) *literal {
	inner := a.innerText(text)
	var words []string
	for _, m := range token.FindAllStringIndex(inner, -1) {
		word, from := inner[m[0]:m[1]], a.from+2+m[0]
		switch {
		case word == "(" || word == "|" || word == "=" || word == ":=":
			words = nil
		case word[0] == '"' || word[0] == '`':
			to := from + len(word)
			open := len(word) < 2 || word[len(word)-1] != word[0]
			here := offset > from && (offset < to || offset == to && open)
			if open = open || here && runsOn(text[a.from:], word); open {
				to = from + 1 + len(literalName.FindString(word[1:]))
			}
			if offset > from && (offset < to || offset == to && open) && len(words) > 0 {
				l := &literal{function: words[0], index: len(words) - 1, from: from + 1, to: to, quote: word[0], open: open}
				if !open {
					l.to--
				}
				l.text = text[l.from:l.to]
				for _, before := range words[1:] {
					l.before = append(l.before, strings.Trim(before, "\"`"))
				}
				return l
			}
			if here {
				return nil
			}
			words = append(words, word)
		case len(words) == 0 && slices.Contains([]string{"if", "else", "with", "range", "-"}, word):
		default:
			words = append(words, word)
		}
	}
	return nil
}

// literalName is what is taken for the text of a literal that nothing closes.
var literalName = regexp.MustCompile(`^[\w./:-]*`)

// runsOn reports whether a literal of an action ends with the quotation mark of another
// one, since its own is missing: it goes beyond the action, or the marks are no pairs.
func runsOn(action, word string) bool {
	line, _, _ := strings.Cut(action, "\n")
	inside, _, closed := strings.Cut(line, "}}")
	return word[0] == '"' && closed && (strings.Contains(word, "}}") && !strings.Contains(inside, word) ||
		strings.Count(strings.ReplaceAll(inside, `\"`, ""), `"`)%2 == 1)
}

// literalItems are the texts that an argument may be.
func (q *query) literalItems(l *literal) []completionItem {
	kind, names := q.literalChoices(l)
	var all []completionItem
	for _, name := range names {
		item := q.newItem(kind, name, l.from)
		item.TextEdit.Range = spanOf(q.doc.text, l.from, max(q.offset, l.to))
		if l.open {
			item.TextEdit.NewText += string(l.quote)
		}
		item.FilterText = name
		all = append(all, item)
	}
	return all
}

// literalChoices returns the names that a literal argument can be, and the kind of their completion
// items.
func (q *query) literalChoices(l *literal) (kind int, names []string) {
	switch {
	case l.index == 0 && (l.function == "include" || l.function == "template"):
		for _, f := range templatesOf(q.folder) {
			q.server.mu.Lock()
			names = append(names, q.texts.mentionsOf(f).defines...)
			q.server.mu.Unlock()
		}
		slices.Sort(names)
		return itemModule, slices.Compact(names)
	case l.index == 0 && slices.Contains(namesFile, l.function):
		for _, f := range q.folder.Children {
			names = append(names, strings.TrimSuffix(f.Name, ".yaml"))
		}
		return itemFile, names
	case l.index == 0 && l.function == "file":
		for _, f := range q.folder.Files {
			names = append(names, strings.TrimPrefix(f.Name, "files/"))
		}
		return itemFile, names
	case l.index == 0 && l.function == "config":
		return itemProperty, sortedKeys(q.configValues())
	case l.index == 0 && slices.Contains(namesKind, l.function):
		return itemModule, sortedKeys(q.groupVersions())
	case l.index == 1 && slices.Contains(namesKind, l.function):
		names = slices.Clone(q.groupVersions()[l.before[0]])
		slices.Sort(names)
		return itemClass, names
	}
	return 0, nil
}

// namesFile and namesKind are the functions whose first arguments name a file of the
// folder, or a kind.
var (
	namesFile = []string{"child", "children", "await", "rendered", "stable"}
	namesKind = []string{"lookup", "select", "hasAPI"}
)

// yamlItems are the keys or values that may stand at a place in the YAML.
func (q *query) yamlItems() []completionItem {
	s := spotAt(q.doc.text, q.offset)
	if s == nil {
		return nil
	}
	if len(s.path) == 0 && s.value && (s.key == "apiVersion" || s.key == "kind") && !isKindFile(q.inside) && !q.isStatus() {
		return q.headItems(s)
	}
	t, note := q.typeOf(q.doc.text, q.shown, s, deepestCall)
	headless := len(s.path) == 0 && !s.value && s.gvk.Kind == "" && !isKindFile(q.inside) && !q.isStatus()
	if t == nil && headless && !strings.HasSuffix(q.shown, ".tpl") {
		t, note = anyObject, func(*schema.Type, string) string { return "" }
	}
	if t == nil {
		return nil
	}
	if s.value {
		field, _ := t.Field(s.key)
		return q.valueItems(field, s.from)
	}
	dash := ""
	if t.Kind() == schema.KindList { // an item begins here
		s.path, dash = append(s.path, "[]"), "- "
		t, note = q.typeOf(q.doc.text, q.shown, s, deepestCall)
	}
	var all []completionItem
	rest, _, _ := strings.Cut(q.doc.text[q.offset:], "\n")
	complete := regexp.MustCompile(`^[\w./-]*\s*:`).MatchString(rest)
	for _, name := range t.Fields() {
		if slices.Contains(s.beside, name) {
			continue
		}
		field, _ := t.Field(name)
		item := q.newItem(itemProperty, dash+name, s.from)
		item.Detail, item.Documentation, item.FilterText = typeText(field), documentationOf(note(field, name)), name
		if slices.Contains(t.Required(), name) {
			item.Detail += ", required"
			item.SortText = " " + name
		}
		if !complete {
			item.TextEdit.NewText += ":"
			if field.Kind() != schema.KindObject && field.Kind() != schema.KindList && field.Kind() != schema.KindFreeMap {
				item.TextEdit.NewText += " "
			}
		}
		all = append(all, item)
	}
	return all
}

// anyObject is the type of an object whose kind is not written yet.
var anyObject = schema.ObjectOf(map[string]*schema.Type{
	"apiVersion": schema.Scalar(schema.KindString), "kind": schema.Scalar(schema.KindString),
	"metadata": schema.ObjectOf(map[string]*schema.Type{"name": schema.Scalar(schema.KindString)}),
})

func (q *query) valueItems(t *schema.Type, from int) []completionItem {
	var all []completionItem
	values := t.Enum()
	if t.Kind() == schema.KindBoolean {
		values = []any{true, false}
	}
	for _, value := range values {
		all = append(all, q.newItem(itemValue, fmt.Sprint(value), from))
	}
	return all
}

// isStatus reports whether the document is status.yaml.
func (q *query) isStatus() bool {
	return q.folder != nil && q.folder.Status != nil && q.folder.Status.Shown == q.shown
}

// headItems are values of apiVersion and kind, each by the other if that is written.
func (q *query) headItems(s *spot) []completionItem {
	var all []completionItem
	apiVersion := s.gvk.GroupVersion().String()
	versions := q.groupVersions()
	for _, gv := range sortedKeys(versions) {
		if s.key == "apiVersion" {
			item := q.newItem(itemModule, gv, s.from)
			if v := q.definitionVersion(); v != nil && strings.HasPrefix(q.inside, "examples/") && gv == v.GVK.GroupVersion().String() {
				item.SortText = " " + gv
				all = append([]completionItem{item}, all...)
				continue
			}
			all = append(all, item)
			continue
		}
		for _, kind := range versions[gv] {
			if gv == apiVersion || versions[apiVersion] == nil {
				all = append(all, q.newItem(itemClass, kind, s.from))
			}
		}
	}
	return all
}

// deepestCall bounds how far the caller of a partial is looked for.
const deepestCall = 5

// typeOf is the type of the map that a spot is in, and what gives notes on its fields; nil
// if that is not known.
func (q *query) typeOf(text, shown string, s *spot, left int) (t *schema.Type, note func(*schema.Type, string) string) {
	t, gvk, path := q.typeAtSpot(text, shown, s, left)
	for _, step := range path {
		if step == "[]" {
			t = t.Elem()
		} else if field, found := t.Field(step); found {
			t = field
		} else {
			return nil, nil
		}
	}
	if t == nil {
		return nil, nil
	}
	return t, func(field *schema.Type, name string) string {
		if text := describeType(field); text != "" {
			return text
		}
		return builtInNote(gvk, append(slices.Clone(path), name))
	}
}

// typeAtSpot returns the type and the kind of the document that a spot is in, and the path in it.
func (q *query) typeAtSpot(text, shown string, s *spot, left int) (*schema.Type, apischema.GroupVersionKind, []string) {
	if shown == q.shown && isKindFile(q.inside) {
		return kindType(), apischema.GroupVersionKind{}, s.path
	}
	if strings.HasSuffix(shown, ".tpl") {
		return q.beginAtCaller(text, s, left)
	}
	if q.folder != nil && q.folder.Status != nil && q.folder.Status.Shown == shown {
		status, _ := schema.Root(q.definitionVersion()).Field("status")
		return status, apischema.GroupVersionKind{}, s.path
	}
	if s.gvk.Kind == "" {
		return nil, s.gvk, nil
	}
	if s.gvk == apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		return schema.Definition(), s.gvk, s.path
	}
	return q.catalog.Type(s.gvk), s.gvk, s.path
}

// beginAtCaller follows a partial to the first place that includes it.
func (q *query) beginAtCaller(text string, s *spot, left int) (*schema.Type, apischema.GroupVersionKind, []string) {
	none := apischema.GroupVersionKind{}
	name := ""
	for _, a := range actionsOf(text) {
		if m := defineName.FindStringSubmatch(text[a.from:a.to]); m != nil && a.from <= s.from {
			name = m[1]
		}
	}
	if name == "" || left == 0 || q.folder == nil {
		return nil, none, nil
	}
	for _, f := range templatesOf(q.folder) {
		caller := string(f.Data)
		for _, m := range q.findMentions(f, name) {
			if m.declares {
				continue
			}
			site := spotAt(caller, m.action.from)
			if site == nil {
				continue
			}
			if site.value {
				site.path = append(site.path, site.key)
			}
			site.from = m.action.from
			if t, gvk, path := q.typeAtSpot(caller, f.Shown, site, left-1); t != nil {
				return t, gvk, append(path, s.path...)
			}
		}
	}
	return nil, none, nil
}

// A mention is a place that names a partial.
type mention struct {
	action   action
	from, to int // of the name
	declares bool
}

// findMentions returns the places in a file that name a partial.
func (q *query) findMentions(f folder.File, name string) []mention {
	var all []mention
	text := string(f.Data)
	for _, a := range actionsOf(text) {
		if a.comment {
			continue
		}
		for _, m := range callName.FindAllStringSubmatchIndex(text[a.from:a.to], -1) {
			if text[a.from+m[2]:a.from+m[3]] == name {
				all = append(all, mention{a, a.from + m[2], a.from + m[3], a.word == "block"})
			}
		}
		if m := defineName.FindStringSubmatchIndex(text[a.from:a.to]); m != nil && a.word == "define" && text[a.from+m[2]:a.from+m[3]] == name {
			all = append(all, mention{a, a.from + m[2], a.from + m[3], true})
		}
	}
	return all
}
