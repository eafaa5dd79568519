package chart

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A shape is a part of a structural schema under construction.
type shape = map[string]any

const (
	openKey   = "x-kubernetes-preserve-unknown-fields"
	eitherKey = "x-kubernetes-int-or-string"
)

// anyShape returns the shape of a value of which nothing is known.
func anyShape() shape { return shape{openKey: true, "nullable": true} }

// An inferrer makes shapes of values.yaml.
type inferrer struct {
	params map[string]string
	// dropped are the values that nothing reads, as paths.
	dropped []string
	// demanded are the fields of items that are required now, as paths.
	demanded []string
}

// dropPath records that nothing reads the value at a path.
func (f *inferrer) dropPath(path string) {
	if !slices.Contains(f.dropped, path) {
		f.dropped = append(f.dropped, path)
	}
}

// objectShape returns the shape of a map of values with what templates read of it. whole is true if
// they take it, or a map above it, as it is.
func (f *inferrer) objectShape(n *yaml.Node, u *use, path string, whole bool) shape {
	n = resolveAlias(n)
	whole = whole || u.whole
	props := shape{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolveAlias(n.Content[i+1])
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if key.Value == "<<" {
			continue
		}
		below := u.useAt(key.Value, whole)
		if below == nil {
			f.dropPath(at)
			continue
		}
		s := f.valueShape(key.Value, value, below, at)
		if text := describeKey(key, value); f.params[at] == "" && text != "" {
			s["description"] = text
		}
		props[key.Value] = s
	}
	for _, name := range sortedKeys(u.fields) {
		if props[name] == nil {
			props[name] = absentShape(name, u.fields[name])
		}
	}
	s := shape{"type": "object", "default": shape{}}
	if len(props) > 0 {
		s["properties"] = props
	}
	if whole || u.items != nil || len(props) == 0 && path != "" {
		s[openKey] = true
	}
	return s
}

// valueShape returns the shape of one value.
func (f *inferrer) valueShape(name string, n *yaml.Node, u *use, path string) shape {
	s := f.plainShape(name, n, u, path)
	if text := f.params[path]; text != "" {
		s["description"] = text
	}
	return s
}

// plainShape returns the shape of one value without its description.
func (f *inferrer) plainShape(name string, n *yaml.Node, u *use, path string) shape {
	empty := len(n.Content) == 0
	if s := knownShape(name, n.Kind); s != nil && (empty || n.Kind == yaml.SequenceNode) {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!null" {
			s["default"] = plainValue(n)
		}
		dropUnread(s, u)
		return s
	}
	switch n.Kind {
	case yaml.MappingNode:
		return f.objectShape(n, u, path, false)
	case yaml.SequenceNode:
		item := f.itemsShape(n, u.itemUse(), path+"[]")
		s := shape{"type": "array", "items": item}
		s["default"] = pruneDefault(plainValue(n), s)
		return s
	}
	return scalarShape(name, n, u)
}

// dropUnread takes out of a well-known list of objects the fields that templates do not read.
func dropUnread(s shape, u *use) {
	item := asMap(s["items"])
	if u.items == nil || len(u.items.fields) == 0 || u.whole || u.items.whole {
		return
	}
	delete(item, openKey)
	for name := range asMap(item["properties"]) {
		if u.items.fields[name] == nil {
			delete(asMap(item["properties"]), name)
		}
	}
	s["default"] = pruneDefault(s["default"], s)
}

// absentShape returns the shape of a value that templates read and values.yaml does not have.
func absentShape(name string, u *use) shape {
	for _, kind := range []yaml.Kind{yaml.MappingNode, yaml.SequenceNode} {
		if s := knownShape(name, kind); s != nil {
			return s
		}
	}
	if len(u.fields) == 0 || u.whole || u.items != nil {
		return anyShape()
	}
	s := (&inferrer{}).objectShape(&yaml.Node{Kind: yaml.MappingNode}, u, "", false)
	delete(s, "default")
	return s
}

// scalarShape returns the shape of a text, a number, a boolean or null.
func scalarShape(name string, n *yaml.Node, u *use) shape {
	either := knownEither[name]
	switch n.Tag {
	case "!!null":
		if len(u.fields) > 0 || knownShape(name, yaml.MappingNode) != nil {
			s := absentShape(name, u)
			s["nullable"] = true
			return s
		}
		if either {
			return shape{eitherKey: true, "nullable": true}
		}
		return anyShape()
	case "!!bool":
		return shape{"type": "boolean", "default": plainValue(n)}
	case "!!int":
		if either {
			return shape{eitherKey: true, "default": plainValue(n)}
		}
		return shape{"type": "integer", "default": plainValue(n)}
	case "!!float":
		return shape{"type": "number", "default": plainValue(n)}
	}
	if either {
		return shape{eitherKey: true, "default": plainValue(n)}
	}
	return shape{"type": "string", "default": plainValue(n)}
}

// plainValue is the value of a node, as JSON has it: whole numbers as int64.
func plainValue(n *yaml.Node) any {
	n = resolveAlias(n)
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if v := plainValue(n.Content[i+1]); v != nil {
				m[n.Content[i].Value] = v
			}
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, plainValue(item))
		}
		return list
	}
	return plainScalar(n)
}

func plainScalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool", "!!int", "!!float":
		var v any
		if n.Decode(&v) == nil {
			switch v := v.(type) {
			case int:
				return int64(v)
			case bool, float64:
				return v
			}
		}
	}
	return n.Value
}
