package chart

import (
	"slices"
	"strings"
)

// kept are the keywords of JSON Schema that mean the same in a CRD.
var kept = []string{
	"title", "enum", "minimum", "maximum", "pattern", "minLength", "maxLength", "minItems", "maxItems",
	"minProperties", "maxProperties", "multipleOf", "required",
}

// lost are those that a CRD has no place for, where they say something.
var lost = []string{"oneOf", "anyOf", "allOf", "not", "if", "patternProperties", "uniqueItems", "dependencies", "dependentRequired",
	"contains", "propertyNames"}

var formats = []string{"date", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uuid", "byte", "int32", "int64", "duration"}

// An overlay lays values.schema.json over what values.yaml says.
type overlay struct {
	root map[string]any
	note func(path, what, do string)
}

// deref follows a reference within the file.
func (o *overlay) deref(s map[string]any) map[string]any {
	for range 16 {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		at := any(o.root)
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			m, _ := at.(map[string]any)
			at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
		next, ok := at.(map[string]any)
		if !ok || !strings.HasPrefix(ref, "#/") {
			return map[string]any{}
		}
		s = next
	}
	return map[string]any{}
}

// lay lays the schema of one value over its shape.
func (o *overlay) lay(s map[string]any, over shape, path string) {
	s = o.deref(s)
	o.typed(s, over)
	for _, key := range kept {
		if v, ok := s[key]; ok {
			over[key] = v
		}
	}
	if text, ok := s["description"].(string); ok {
		over["description"] = text
	}
	if f, ok := s["format"].(string); ok && slices.Contains(formats, f) {
		over["format"] = f
	}
	if c, ok := s["const"]; ok {
		over["enum"] = []any{c}
	}
	for _, bound := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		if n, ok := s[bound[0]].(float64); ok {
			over[bound[1]], over[bound[0]] = n, true
		}
	}
	for _, key := range lost {
		if _, ok := s[key]; ok {
			o.note(path, key+" of "+shown(path), "a CRD cannot say it so: write a rule into x-kubernetes-validations")
		}
	}
	o.below(s, over, path)
}

func shown(path string) string {
	if path == "" {
		return "the values"
	}
	return path
}

// typed takes over the type. A list of types is a number or a text, or what
// may be null.
func (o *overlay) typed(s map[string]any, over shape) {
	var types []string
	switch t := s["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		for _, one := range t {
			if text, ok := one.(string); ok {
				types = append(types, text)
			}
		}
	}
	if i := slices.Index(types, "null"); i >= 0 {
		over["nullable"] = true
		types = slices.Delete(types, i, i+1)
	}
	slices.Sort(types)
	switch {
	case slices.Equal(types, []string{"integer", "string"}), slices.Equal(types, []string{"number", "string"}):
		delete(over, "type")
		delete(over, openKey)
		over[eitherKey] = true
	case len(types) == 1 && over["type"] != types[0]:
		retype(over, types[0])
	case len(types) > 1:
		delete(over, "type")
		delete(over, eitherKey)
		over[openKey] = true
	}
}

// retype gives a shape another type, and takes away what does not go with it.
func retype(over shape, to string) {
	free := over[openKey] == true && over["type"] == nil
	delete(over, eitherKey)
	delete(over, openKey)
	over["type"] = to
	switch to {
	case "object":
		if over["properties"] == nil && over["additionalProperties"] == nil {
			over[openKey] = true
		}
	case "array":
		if over["items"] == nil {
			over["items"] = shape{openKey: true}
		}
	}
	if free && over["default"] == nil {
		over["nullable"] = true // null in values.yaml is as good as absent
	}
	if !fits(over["default"], to) {
		delete(over, "default")
	}
}

// fits reports whether a default is of a type.
func fits(v any, to string) bool {
	switch v.(type) {
	case map[string]any:
		return to == "object"
	case []any:
		return to == "array"
	case string:
		return to == "string"
	case bool:
		return to == "boolean"
	case int64:
		return to == "integer" || to == "number"
	case float64:
		return to == "number"
	}
	return false
}

// below lays the schemas of fields and items.
func (o *overlay) below(s map[string]any, over shape, path string) {
	props, _ := over["properties"].(shape)
	for name, raw := range asMap(s["properties"]) {
		if p, ok := props[name].(shape); ok {
			o.lay(asMap(raw), p, strings.TrimPrefix(path+"."+name, "."))
		}
	}
	if req, ok := over["required"].([]any); ok {
		over["required"] = slices.DeleteFunc(slices.Clone(req), func(name any) bool { return props[name.(string)] == nil })
		for _, name := range over["required"].([]any) {
			delete(props[name.(string)].(shape), "nullable")
		}
		if len(over["required"].([]any)) == 0 {
			delete(over, "required")
		}
	}
	if more := asMap(s["additionalProperties"]); len(more) > 0 && len(props) == 0 && over["type"] == "object" {
		item := anything()
		o.lay(more, item, path+".*")
		delete(item, "nullable")
		delete(over, openKey)
		over["additionalProperties"] = item
	}
	if item := asMap(s["items"]); len(item) > 0 && over["type"] == "array" {
		into, _ := over["items"].(shape)
		if into == nil || into["type"] == nil {
			into = o.fresh(item, path+"[]")
		} else {
			o.lay(item, into, path+"[]")
		}
		over["items"] = into
	}
}

// fresh is the shape of a value that only values.schema.json tells of.
func (o *overlay) fresh(s map[string]any, path string) shape {
	s = o.deref(s)
	over := shape{openKey: true}
	props := shape{}
	for name, raw := range asMap(s["properties"]) {
		props[name] = o.fresh(asMap(raw), path+"."+name)
	}
	if len(props) > 0 {
		over["properties"] = props
	}
	o.lay(s, over, path)
	delete(over, "nullable")
	return over
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
