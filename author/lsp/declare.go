package lsp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

var (
	operandText = regexp.MustCompile(`^(\$\w*)?(\.\w+)*`)
	ofItem      = regexp.MustCompile(`(?:^|[\s(|])\.(\w+)`)
	itemVar     = regexp.MustCompile(`(\$\w+)\s*:=`)
)

// takesIntegers and takesNumbers are the functions whose arguments are numbers.
var (
	takesIntegers = []string{"add", "add1", "sub", "mul", "div", "mod", "max", "min", "biggest", "until", "untilStep", "seq"}
	takesNumbers  = []string{"addf", "add1f", "subf", "mulf", "divf", "maxf", "minf", "ceil", "floor", "round"}
)

// typeFor is what a schema says of a field, of that name, that an operand at a byte reads:
// an object, if something in it is read, else what the use of the operand asks for.
func (q *query) typeFor(name string, offset int) string {
	for _, a := range actionsOf(q.doc.text) {
		if offset < a.from || offset >= a.to {
			continue
		}
		operand := operandText.FindString(q.doc.text[offset:])
		leaf := q.leafType(a, offset, operand)
		_, rest, _ := strings.Cut(operand+".", "."+name+".")
		inside := strings.FieldsFunc(rest, func(r rune) bool { return r == '.' })
		for _, step := range slices.Backward(inside) {
			leaf = fmt.Sprintf("type: object, properties: {%s: {%s}}", step, leaf)
		}
		return leaf
	}
	return "type: string"
}

// leafType is what the use of an operand in an action asks for.
func (q *query) leafType(a action, offset int, operand string) string {
	inner := strings.Trim(a.innerText(q.doc.text), "- ")
	switch {
	case a.word == "range":
		return "type: array, items: {" + q.itemType(a) + "}"
	case inner == "if "+operand || inner == "else if "+operand || inner == "if not "+operand:
		return "type: boolean"
	}
	switch fn := functionAt(a, q.doc.text, offset); {
	case slices.Contains(takesIntegers, fn):
		return "type: integer"
	case slices.Contains(takesNumbers, fn):
		return "type: number"
	}
	line, _ := lineOf(q.doc.text, lineAt(q.doc.text, a.from))
	s := spotAt(q.doc.text, a.from)
	if s == nil || !s.value || !strings.HasSuffix(strings.TrimSpace(line), q.doc.text[a.from:a.to]) || s.word != "" {
		return "type: string"
	}
	t, _ := q.typeOf(q.doc.text, q.shown, s, deepestCall)
	if field, found := t.Field(s.key); t != nil && found {
		return typeInSchema(field)
	}
	return "type: string"
}

// functionAt is the function that an operand is an argument of, or is piped into; "" if
// there is none.
func functionAt(a action, text string, offset int) string {
	before := text[a.from+2 : offset]
	if i := strings.LastIndexAny(before, "(|="); i >= 0 {
		before = before[i+1:]
	}
	words := strings.Fields(strings.TrimLeft(before, "- "))
	for len(words) > 0 && slices.Contains([]string{"if", "else", "with", "range"}, words[0]) {
		words = words[1:]
	}
	if len(words) > 0 {
		return words[0]
	}
	_, after, piped := strings.Cut(text[offset:offset+max(0, a.from+2+len(a.innerText(text))-offset)], "|")
	if words := strings.Fields(after); piped && len(words) > 0 {
		return words[0]
	}
	return ""
}

// itemType is what a schema says of the items that a range goes through: an object, if its
// body reads fields of them.
func (q *query) itemType(loop action) string {
	text := q.doc.text
	var fields []string
	variable := ""
	for _, m := range itemVar.FindAllStringSubmatch(strings.ReplaceAll(loop.innerText(text), ",", " "), -1) {
		variable = m[1]
	}
	depth := 0
	for _, a := range actionsOf(text) {
		if a.from < loop.from || a.comment {
			continue
		}
		inner := a.innerText(text)
		if a.from > loop.from {
			for _, m := range ofItem.FindAllStringSubmatch(inner, -1) {
				fields = append(fields, m[1])
			}
			if variable != "" {
				for _, m := range regexp.MustCompile(regexp.QuoteMeta(variable)+`\.(\w+)`).FindAllStringSubmatch(inner, -1) {
					fields = append(fields, m[1])
				}
			}
		}
		switch a.word {
		case "if", "with", "range", "block":
			depth++
		case "end":
			depth--
		}
		if depth == 0 {
			break
		}
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	if len(fields) == 0 {
		return "type: string"
	}
	var all []string
	for _, name := range fields {
		all = append(all, name+": {type: string}")
	}
	return "type: object, properties: {" + strings.Join(all, ", ") + "}"
}

// emptyOf is an empty value of the type that an operand has.
func (q *query) emptyOf(from, to int) string {
	there := *q
	there.offset = to
	kind := schema.KindAny
	for _, s := range there.sightingsAtCursor() {
		if s.from == from && s.to == to && len(s.values) > 0 {
			kind = s.values[0].Type.Kind()
		}
	}
	for _, a := range actionsOf(q.doc.text) {
		fn := ""
		if kind == schema.KindAny && a.from <= from && to <= a.to {
			fn = functionAt(a, q.doc.text, from)
		}
		if slices.Contains(takesIntegers, fn) || slices.Contains(takesNumbers, fn) {
			kind = schema.KindInteger
		}
	}
	switch kind {
	case schema.KindInteger, schema.KindNumber:
		return "0"
	case schema.KindBoolean:
		return "false"
	case schema.KindList:
		return "(list)"
	case schema.KindObject, schema.KindFreeMap:
		return "(dict)"
	}
	return `""`
}
