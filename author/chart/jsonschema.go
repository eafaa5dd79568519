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

// followRef follows a reference within the file.
func (o *overlay) followRef(s map[string]any) map[string]any {
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

// laySchema lays the schema of one value over its shape.
func (o *overlay) laySchema(s map[string]any, over shape, path string) {
	s = o.followRef(s)
	o.layType(s, over)
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
			o.note(path, key+" of "+shownPath(path), "a CRD cannot say it so: write a rule into x-kubernetes-validations")
		}
	}
	o.layBelow(s, over, path)
}

// shownPath returns a path as messages show it.
func shownPath(path string) string {
	if path == "" {
		return "the values"
	}
	return path
}

// layType takes over the type. A list of types means a number or a text, or a value that may be
// null.
func (o *overlay) layType(s map[string]any, over shape) {
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
		setType(over, types[0])
	case len(types) > 1:
		delete(over, "type")
		delete(over, eitherKey)
		over[openKey] = true
	}
}

// setType gives a shape another type, and removes what does not fit the type.
func setType(over shape, to string) {
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
	if !isOfType(over["default"], to) {
		delete(over, "default")
	}
}

// isOfType reports whether a default is of a type.
func isOfType(v any, to string) bool {
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

// layBelow lays the schemas of fields and items over their shapes.
func (o *overlay) layBelow(s map[string]any, over shape, path string) {
	props, _ := over["properties"].(shape)
	for name, raw := range asMap(s["properties"]) {
		if p, ok := props[name].(shape); ok {
			o.laySchema(asMap(raw), p, strings.TrimPrefix(path+"."+name, "."))
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
		item := anyShape()
		o.laySchema(more, item, path+".*")
		delete(item, "nullable")
		delete(over, openKey)
		over["additionalProperties"] = item
	}
	if item := asMap(s["items"]); len(item) > 0 && over["type"] == "array" {
		into, _ := over["items"].(shape)
		if into == nil || into["type"] == nil {
			into = o.freshShape(item, path+"[]")
		} else {
			o.laySchema(item, into, path+"[]")
		}
		over["items"] = into
	}
}

// freshShape returns the shape of a value that only values.schema.json describes.
func (o *overlay) freshShape(s map[string]any, path string) shape {
	s = o.followRef(s)
	over := shape{openKey: true}
	props := shape{}
	for name, raw := range asMap(s["properties"]) {
		props[name] = o.freshShape(asMap(raw), path+"."+name)
	}
	if len(props) > 0 {
		over["properties"] = props
	}
	o.laySchema(s, over, path)
	delete(over, "nullable")
	return over
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
