package jsonschema

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// strictSchema returns the schema of one place, and refuses unknown fields of a map. The API server
// drops what is not declared, so it is a mistake.
func strictSchema(p *apiextensionsv1.JSONSchemaProps) map[string]any {
	s := looseSchema(p)
	free := p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields
	if p.XEmbeddedResource {
		declareObject(s)
	}
	switch {
	case p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil:
		s["additionalProperties"] = strictSchema(p.AdditionalProperties.Schema)
	case p.AdditionalProperties != nil:
		s["additionalProperties"] = p.AdditionalProperties.Allows
	case p.Type == "object" && len(p.Properties) > 0 && !free:
		s["additionalProperties"] = false
	}
	return s
}

// declareObject declares the fields that every object has.
func declareObject(s map[string]any) {
	fields, _ := s["properties"].(map[string]any)
	if fields == nil {
		fields = map[string]any{}
		s["properties"] = fields
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if fields[name] == nil {
			fields[name] = map[string]any{"type": "string"}
		}
	}
	fields["metadata"] = metadataSchema()
}

// looseSchema returns the schema of one place, which does not refuse unknown fields. Alternatives,
// such as allOf and anyOf, declare only a part of what may be there.
func looseSchema(p *apiextensionsv1.JSONSchemaProps) map[string]any {
	s := map[string]any{}
	setTexts(s, p)
	setBounds(s, p)
	setTypes(s, p)
	if fields := fieldsOf(p); len(fields) > 0 {
		s["properties"] = fields
	}
	if required := requiredOf(p); len(required) > 0 {
		s["required"] = required
	}
	if p.Items != nil && p.Items.Schema != nil {
		s["items"] = strictSchema(p.Items.Schema)
	}
	for key, list := range map[string][]apiextensionsv1.JSONSchemaProps{"allOf": p.AllOf, "anyOf": p.AnyOf, "oneOf": p.OneOf} {
		var all []any
		for _, one := range list {
			all = append(all, looseSchema(&one))
		}
		if len(all) > 0 && !p.XIntOrString { // that says anyOf integer and string
			s[key] = all
		}
	}
	if p.Not != nil {
		s["not"] = looseSchema(p.Not)
	}
	return s
}

func fieldsOf(p *apiextensionsv1.JSONSchemaProps) map[string]any {
	fields := map[string]any{}
	for name, field := range p.Properties {
		fields[name] = strictSchema(&field)
	}
	return fields
}

// requiredOf are the fields that must be written: those that a default fills
// in need not.
func requiredOf(p *apiextensionsv1.JSONSchemaProps) []any {
	var all []any
	for _, name := range p.Required {
		if field, declared := p.Properties[name]; !declared || field.Default == nil {
			all = append(all, name)
		}
	}
	return all
}

// setTexts adds what is for people: the description with the messages of rules, the default,
// examples.
func setTexts(s map[string]any, p *apiextensionsv1.JSONSchemaProps) {
	note := []string{}
	if p.Description != "" {
		note = append(note, p.Description)
	}
	for _, rule := range p.XValidations {
		note = append(note, "Rule: "+strings.TrimSpace(cmp.Or(rule.Message, rule.Rule)))
	}
	if len(note) > 0 {
		s["description"] = strings.Join(note, "\n\n")
	}
	if p.Title != "" {
		s["title"] = p.Title
	}
	if p.Default != nil {
		s["default"] = json.RawMessage(p.Default.Raw)
	}
	if p.Example != nil {
		s["examples"] = []any{json.RawMessage(p.Example.Raw)}
	}
}

// setTypes adds what sort of value it is.
func setTypes(s map[string]any, p *apiextensionsv1.JSONSchemaProps) {
	var types []any
	switch {
	case p.XIntOrString:
		types = []any{"integer", "string"}
	case p.Type != "":
		types = []any{p.Type}
	}
	if p.Nullable && len(types) > 0 {
		types = append(types, "null")
	}
	switch len(types) {
	case 0:
	case 1:
		s["type"] = types[0]
	default:
		s["type"] = types
	}
	var enum []any
	for _, v := range p.Enum {
		enum = append(enum, json.RawMessage(v.Raw))
	}
	if len(enum) > 0 {
		if p.Nullable && !slices.ContainsFunc(p.Enum, func(v apiextensionsv1.JSON) bool { return string(v.Raw) == "null" }) {
			enum = append(enum, nil)
		}
		s["enum"] = enum
	}
	if !slices.Contains([]string{"", "int32", "int64", "float", "double", "byte", "password"}, p.Format) {
		s["format"] = p.Format
	}
}

// onlyGo are parts of patterns that mean something else, or nothing, to the
// regular expressions of JavaScript, which editors use.
var onlyGo = regexp.MustCompile(`\(\?[a-zA-Z]|\(\?P<|\\[AzQEpP]|\[\[:`)

// setBounds adds how large a value may be, and how many items it may have.
func setBounds(s map[string]any, p *apiextensionsv1.JSONSchemaProps) {
	for key, n := range map[string]*int64{
		"minLength": p.MinLength, "maxLength": p.MaxLength, "minItems": p.MinItems, "maxItems": p.MaxItems,
		"minProperties": p.MinProperties, "maxProperties": p.MaxProperties,
	} {
		if n != nil {
			s[key] = *n
		}
	}
	limit := func(key, exclusiveKey string, n *float64, exclusive bool) {
		switch {
		case n != nil && exclusive:
			s[exclusiveKey] = *n
		case n != nil:
			s[key] = *n
		}
	}
	limit("minimum", "exclusiveMinimum", p.Minimum, p.ExclusiveMinimum)
	limit("maximum", "exclusiveMaximum", p.Maximum, p.ExclusiveMaximum)
	if p.MultipleOf != nil {
		s["multipleOf"] = *p.MultipleOf
	}
	if p.Pattern != "" && !onlyGo.MatchString(p.Pattern) {
		s["pattern"] = p.Pattern
	}
	if p.UniqueItems || p.XListType != nil && *p.XListType == "set" {
		s["uniqueItems"] = true
	}
}
