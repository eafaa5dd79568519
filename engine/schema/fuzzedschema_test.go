package schema

import (
	"fmt"
	"strings"
)

// A maker makes schemas: choices say which, words are their names and values.
// Most of them are structural, which text that was changed at random hardly is.
type maker struct {
	choices []byte
	words   []string
}

// choose is the next choice among n; without any left it is the first.
func (m *maker) choose(n int) int {
	if len(m.choices) == 0 {
		return 0
	}
	c := int(m.choices[0]) % n
	m.choices = m.choices[1:]
	return c
}

func (m *maker) word() string {
	if len(m.words) == 0 {
		return "a"
	}
	return m.words[m.choose(len(m.words))]
}

// schema makes a schema with at most so many levels below it.
func (m *maker) schema(depth int) map[string]any {
	s := map[string]any{}
	switch kinds := 8; m.choose(min(kinds, 5+3*depth)) {
	case 0:
		s["type"] = "string"
		m.maybe(s, "maxLength", m.choose(9))
		m.maybe(s, "enum", []any{m.word(), m.word()})
		m.maybe(s, "pattern", m.word())
		m.maybe(s, "format", []string{"date", "duration", "byte", "uuid"}[m.choose(4)])
		m.maybe(s, "default", m.word())
	case 1:
		s["type"] = []string{"integer", "number"}[m.choose(2)]
		m.maybe(s, "minimum", m.choose(9))
		m.maybe(s, "maximum", m.choose(9))
		m.maybe(s, "default", m.choose(9))
	case 2:
		s["type"] = "boolean"
		m.maybe(s, "default", m.choose(2) == 1)
	case 3:
		s["x-kubernetes-int-or-string"] = true
	case 4:
		s["type"], s["x-kubernetes-preserve-unknown-fields"] = "object", true
	case 5:
		m.object(s, depth)
	case 6:
		s["type"], s["additionalProperties"] = "object", m.schema(depth-1)
	case 7:
		m.array(s, depth)
	}
	m.maybe(s, "nullable", true)
	return s
}

// maybe adds a field, or not.
func (m *maker) maybe(s map[string]any, field string, value any) {
	if m.choose(4) == 1 {
		s[field] = value
	}
}

func (m *maker) object(s map[string]any, depth int) {
	properties := map[string]any{}
	for range m.choose(5) {
		properties[m.word()] = m.schema(depth - 1)
	}
	s["type"], s["properties"] = "object", properties
	m.maybe(s, "required", []any{m.word()})
	m.maybe(s, "default", map[string]any{})
	m.maybe(s, "x-kubernetes-validations", []any{map[string]any{"rule": fmt.Sprintf("has(self.%s)", m.word())}})
}

func (m *maker) array(s map[string]any, depth int) {
	items := m.schema(depth - 1)
	s["type"], s["items"] = "array", items
	m.maybe(s, "minItems", m.choose(3))
	m.maybe(s, "default", []any{})
	switch key := m.word(); m.choose(4) {
	case 1:
		s["x-kubernetes-list-type"] = "set"
	case 2:
		s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", []any{key}
		s["items"] = map[string]any{"type": "object", "required": []any{key}, "properties": map[string]any{key: map[string]any{"type": "string"}, "b": items}}
	}
}

// madeSchema is the schema that choices make, with the words of a text.
func madeSchema(choices []byte, text string) map[string]any {
	m := &maker{choices: choices, words: strings.Fields(text)}
	return m.schema(3)
}
