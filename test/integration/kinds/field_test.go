package kinds

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// A field is a field of a random schema.
type field struct {
	name string
	// type is text, word, int, float, bool, list, numbers, map, object, items
	// or free.
	kind     string
	required bool
	def      any
	fields   []*field // of object and items
}

// fieldKinds are the kinds of fields. Those that show more are listed more often.
var fieldKinds = []string{"text", "text", "text", "word", "int", "int", "float", "bool", "bool", "list", "numbers", "map", "map", "object",
	"items", "free"}

// newField makes a field; objects and items end at depth 2.
func newField(r *rand.Rand, name string, depth int) *field {
	f := &field{name: name, kind: pick(r, fieldKinds), required: r.IntN(4) == 0}
	for depth >= 2 && (f.kind == "object" || f.kind == "items") {
		f.kind = pick(r, fieldKinds)
	}
	switch f.kind {
	case "object":
		for i := range 1 + r.IntN(3) {
			f.fields = append(f.fields, newField(r, fmt.Sprintf("%s%c", name, 'A'+i), depth+1))
		}
	case "items":
		f.fields = []*field{{name: "name", kind: "word", required: true}, {name: "value", kind: "text"},
			{name: "size", kind: "int", def: int64(1)}}
	case "text", "word", "int", "bool", "map":
		if r.IntN(3) == 0 {
			f.def = f.some(r)
		}
	}
	return f
}

// certain reports whether the field is always there in what holds it.
func (f *field) certain() bool { return f.required || f.def != nil }

// schema is the field's part of the CRD.
func (f *field) schema() map[string]any {
	text := map[string]any{"type": "string"}
	s := map[string]map[string]any{
		"text":    {"type": "string", "maxLength": 2000},
		"word":    {"type": "string", "pattern": "^[a-z][a-z0-9]{0,14}$"},
		"int":     {"type": "integer", "minimum": 0, "maximum": 3},
		"float":   {"type": "number"},
		"bool":    {"type": "boolean"},
		"list":    {"type": "array", "items": text},
		"numbers": {"type": "array", "items": map[string]any{"type": "integer"}},
		"map":     {"type": "object", "additionalProperties": text},
		"object":  object(f.fields),
		"items":   {"type": "array", "items": object(f.fields), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}},
		"free":    {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
	}[f.kind]
	if f.def != nil {
		s["default"] = f.def
	}
	return s
}

func object(fields []*field) map[string]any {
	s := map[string]any{"type": "object"}
	properties, required := map[string]any{}, []any{}
	for _, f := range fields {
		properties[f.name] = f.schema()
		if f.required {
			required = append(required, f.name)
		}
	}
	if s["properties"] = properties; len(required) > 0 {
		s["required"] = required
	}
	return s
}

// texts are strings that would mean something if anybody parsed them.
var texts = []string{
	"hello", "", "yes", "123", "1e3", "null", "~", "two words", "a: b", "- x", "#no comment", "{{ .spec }}", "---", "line one\nline two",
	"tail\n",
	"  lead", "'single'", `"double"`, "tab\there", "\u2028", "\ue000\ue001", "*alias", "&anchor", "!tag", "%dir", "x\n  hostNetwork: true",
	"ünïcødé", "2026-01-01", "0o17", "|",
}

var words = []string{"red", "green", "blue", "amber", "teal", "pink", "grey", "sand", "lime", "ruby"}

// some is a random value of the field.
func (f *field) some(r *rand.Rand) any {
	switch f.kind {
	case "text":
		return pick(r, texts)
	case "word":
		return pick(r, words)
	case "int":
		return int64(r.IntN(4))
	case "float":
		return float64(r.IntN(40)) / 8
	case "bool":
		return r.IntN(2) == 0
	case "list":
		return some(r, 4, func(int) any { return pick(r, texts) })
	case "numbers":
		return some(r, 4, func(int) any { return r.Int64N(1 << 40) })
	case "map":
		return textMap(r, f.name)
	case "object":
		return values(r, f.fields)
	case "items":
		names := shuffled(r, words)
		return some(r, 4, func(i int) any {
			item := values(r, f.fields)
			item["name"] = names[i]
			return item
		})
	}
	return map[string]any{"deep": map[string]any{"n": r.Int64N(1000), "s": pick(r, texts), "l": []any{true, pick(r, texts)}},
		pick(r, words): pick(r, texts)}
}

// textMap has keys that begin with the field's name, so that those of two
// fields can stand side by side.
func textMap(r *rand.Rand, name string) map[string]any {
	m := map[string]any{}
	for _, w := range shuffled(r, words)[:r.IntN(4)] {
		m[name+"."+w] = pick(r, texts)
	}
	return m
}

// values are random values of fields: those that need not be there are often
// not.
func values(r *rand.Rand, fields []*field) map[string]any {
	m := map[string]any{}
	for _, f := range fields {
		if f.required || r.IntN(3) > 0 {
			m[f.name] = f.some(r)
		}
	}
	return m
}

func some(r *rand.Rand, upTo int, one func(int) any) []any {
	list := []any{}
	for i := range r.IntN(upTo + 1) {
		list = append(list, one(i))
	}
	return list
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func shuffled[T any](r *rand.Rand, from []T) []T {
	all := slices.Clone(from)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
