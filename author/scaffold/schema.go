package scaffold

import (
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
)

// schemaKeys are in the order in which people write those of a schema; others,
// such as x-kubernetes-…, come before default.
var schemaKeys = []string{
	"description", "type", "x-kubernetes-int-or-string", "format", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "enum", "pattern",
}

// lastSchemaKeys come after all others.
var lastSchemaKeys = []string{"default", "required", "items", "additionalProperties", "properties"}

// schemaText prints a schema.
func schemaText(schema map[string]any) (string, error) {
	n, err := nodeOf(schema)
	if err != nil {
		return "", err
	}
	orderSchema(n)
	return printNode(n)
}

// propertiesText prints schemas by the names of their fields.
func propertiesText(properties map[string]any) (string, error) {
	n, err := nodeOf(properties)
	if err != nil {
		return "", err
	}
	eachEntry(n, func(_ string, v *node) { orderSchema(v) })
	return printNode(n)
}

// orderSchema puts the keys of a schema and all below it in order; the names of
// fields stay as they are.
func orderSchema(n *node) {
	if n.Kind != yamlv3.MappingNode {
		return
	}
	inRank(n, schemaRank)
	eachEntry(n, func(key string, v *node) {
		switch key {
		case "items", "additionalProperties":
			orderSchema(v)
		case "properties":
			eachEntry(v, func(_ string, field *node) { orderSchema(field) })
		}
	})
}

func schemaRank(key string) int {
	if i := slices.Index(schemaKeys, key); i >= 0 {
		return i - len(schemaKeys)
	}
	return slices.Index(lastSchemaKeys, key) + 1
}
