package chart

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// itemsShape returns the shape of the items of a list. Maps have the fields of all of them, without
// defaults.
func (f *inferrer) itemsShape(n *yaml.Node, u *use, path string) shape {
	var all shape
	for _, item := range n.Content {
		s := f.itemShape("", resolveAlias(item), u, path)
		if all == nil {
			all = s
			continue
		}
		all = unionShape(all, s)
	}
	if all == nil {
		return f.unseenShape(u, path)
	}
	f.requireItems(all, n.Content, u, path)
	return all
}

// unseenShape returns the shape of the items of an empty list, as templates use them.
func (f *inferrer) unseenShape(u *use, path string) shape {
	switch {
	case u.whole && !u.structured && len(u.fields) == 0 && u.items == nil:
		return printedShape(path)
	case len(u.fields) == 0 || u.structured || u.items != nil:
		return shape{openKey: true}
	}
	props := shape{}
	for _, name := range sortedKeys(u.fields) {
		below := u.fields[name]
		props[name] = absentShape(name, below)
		if below.items != nil && len(below.fields) == 0 && !below.structured {
			props[name] = shape{"type": "array", "items": f.unseenShape(below.items, path+"."+name+"[]")}
		}
	}
	s := shape{"type": "object", "properties": props}
	f.requireItems(s, nil, u, path)
	return s
}

var counted = regexp.MustCompile(`(?i)(?:ports?|replicas|weight|number|seconds|count)(?:\[\])?$`)

// printedShape returns the shape of what templates print as one value, by its name: a number or a
// text.
func printedShape(name string) shape {
	switch {
	case strings.HasSuffix(name, "targetPort"):
		return shape{eitherKey: true}
	case counted.MatchString(name):
		return shape{"type": "integer"}
	}
	return shape{"type": "string"}
}

// requireItems requires the fields of list items that templates print without a check, if all items
// of values.yaml have them. It also requires at least one item of lists that are iterated in this
// way.
func (f *inferrer) requireItems(s shape, all []*yaml.Node, u *use, path string) {
	for _, name := range sortedKeys(asMap(s["properties"])) {
		below, p := u.fields[name], asMap(asMap(s["properties"])[name])
		lacks := slices.ContainsFunc(all, func(item *yaml.Node) bool { return nodeAt(item, []string{name}) == nil })
		if below == nil || below.tested || below.structured || lacks || !below.whole && (below.items == nil || len(all) == 0) {
			continue
		}
		if below.items != nil && p["type"] == "array" {
			p["minItems"] = int64(1)
		}
		delete(p, "nullable")
		if p[openKey] == true && p["type"] == nil {
			delete(p, openKey)
			maps.Copy(p, printedShape(name))
		}
		requireField(s, name)
		f.demanded = append(f.demanded, path+"."+name)
	}
}

// itemShape is the shape of one item, or of a part of it.
func (f *inferrer) itemShape(name string, n *yaml.Node, u *use, path string) shape {
	if s := knownShape(name, n.Kind); s != nil {
		return s
	}
	switch n.Kind {
	case yaml.MappingNode:
		props := shape{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			below := u.useAt(key, u.whole)
			if below == nil {
				f.dropPath(path + "." + key)
				continue
			}
			props[key] = f.itemShape(key, resolveAlias(n.Content[i+1]), below, path+"."+key)
		}
		for _, key := range sortedKeys(u.fields) {
			if props[key] == nil {
				props[key] = absentShape(key, u.fields[key])
			}
		}
		s := shape{"type": "object"}
		if len(props) > 0 {
			s["properties"] = props
		}
		if u.whole || u.items != nil || len(props) == 0 {
			s[openKey] = true
		}
		return s
	case yaml.SequenceNode:
		return shape{"type": "array", "items": f.itemsShape(n, u.itemUse(), path+"[]")}
	}
	s := scalarShape(name, n, u)
	delete(s, "default")
	return s
}

// unionShape returns a shape that fits what either shape fits.
func unionShape(a, b shape) shape {
	ap, aMap := a["properties"].(shape)
	bp, bMap := b["properties"].(shape)
	switch {
	case aMap && bMap:
		for key, s := range bp {
			if old, ok := ap[key].(shape); ok {
				ap[key] = unionShape(old, s.(shape))
			} else {
				ap[key] = s
			}
		}
		return a
	case a["type"] == b["type"] && a["type"] != nil:
		return a
	}
	return shape{openKey: true}
}
