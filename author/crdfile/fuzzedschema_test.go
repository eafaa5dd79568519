package crdfile

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/test/fuzzed"
)

// A maker makes schemas, of which most are structural.
type maker struct {
	from *fuzzed.Choices
}

// schema makes a schema with at most so many levels below it.
func (m *maker) schema(depth int) map[string]any {
	s := map[string]any{}
	switch kinds := 8; m.from.N(min(kinds, 5+3*depth)) {
	case 0:
		s["type"] = "string"
		m.from.Maybe(s, "maxLength", m.from.N(9))
		m.from.Maybe(s, "enum", []any{m.from.Word(), m.from.Word()})
		m.from.Maybe(s, "pattern", m.from.Word())
		m.from.Maybe(s, "format", []string{"date", "duration", "byte", "uuid"}[m.from.N(4)])
		m.from.Maybe(s, "default", m.from.Word())
	case 1:
		s["type"] = []string{"integer", "number"}[m.from.N(2)]
		m.from.Maybe(s, "minimum", m.from.N(9))
		m.from.Maybe(s, "maximum", m.from.N(9))
		m.from.Maybe(s, "default", m.from.N(9))
	case 2:
		s["type"] = "boolean"
		m.from.Maybe(s, "default", m.from.N(2) == 1)
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
	m.from.Maybe(s, "nullable", true)
	return s
}

func (m *maker) object(s map[string]any, depth int) {
	properties := map[string]any{}
	for range m.from.N(5) {
		properties[m.from.Word()] = m.schema(depth - 1)
	}
	s["type"], s["properties"] = "object", properties
	m.from.Maybe(s, "required", []any{m.from.Word()})
	m.from.Maybe(s, "default", map[string]any{})
	m.from.Maybe(s, "x-kubernetes-validations", []any{map[string]any{"rule": fmt.Sprintf("has(self.%s)", m.from.Word())}})
}

func (m *maker) array(s map[string]any, depth int) {
	items := m.schema(depth - 1)
	s["type"], s["items"] = "array", items
	m.from.Maybe(s, "minItems", m.from.N(3))
	m.from.Maybe(s, "default", []any{})
	switch key := m.from.Word(); m.from.N(4) {
	case 1:
		s["x-kubernetes-list-type"] = "set"
	case 2:
		s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", []any{key}
		s["items"] = map[string]any{"type": "object", "required": []any{key},
			"properties": map[string]any{key: map[string]any{"type": "string"}, "b": items}}
	}
}

// madeSchema is the schema that choices make, with the words of a text.
func madeSchema(choices []byte, text string) map[string]any {
	m := &maker{from: fuzzed.Choose(choices, text)}
	return m.schema(3)
}
