package offline

import (
	"fmt"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Place returns file:line:column of the field at path, such as
// spec.ports[0].name, or of the deepest part of it that is in the file.
func (o *Object) Place(path string) string { return o.at(o.locate(path)) }

// Line is the line at which the object begins.
func (o *Object) Line() int { return o.node.Line + o.before }

func (o *Object) at(n *yamlv3.Node) string {
	return fmt.Sprintf("%s:%d:%d", o.file, n.Line+o.before, n.Column)
}

// locate finds the node of the deepest part of path: the key of a field, or an
// item of a list.
func (o *Object) locate(path string) *yamlv3.Node {
	node, at := o.node, o.node
	for path != "" {
		if node.Kind == yamlv3.AliasNode {
			node = node.Alias
		}
		var next, key *yamlv3.Node
		if node.Kind == yamlv3.SequenceNode {
			next, path = item(node, path)
			key = next
		} else {
			key, next, path = entry(node, path)
		}
		if next == nil {
			break
		}
		node, at = next, key
	}
	return at
}

// item returns the list item that path starts with, and the rest of path.
func item(list *yamlv3.Node, path string) (*yamlv3.Node, string) {
	index, rest, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(index)
	if !found || err != nil || i < 0 || i >= len(list.Content) {
		return nil, path
	}
	return list.Content[i], strings.TrimPrefix(rest, ".")
}

// entry returns the key and value that path starts with, and the rest of path.
// Keys may hold dots, so the longest that fits is taken.
func entry(m *yamlv3.Node, path string) (key, value *yamlv3.Node, rest string) {
	longest := -1
	for i := 0; m.Kind == yamlv3.MappingNode && i+1 < len(m.Content); i += 2 {
		name := m.Content[i].Value
		for _, form := range []string{name, "[" + name + "]"} {
			after, found := strings.CutPrefix(path, form)
			if !found || len(form) <= longest || after != "" && after[0] != '.' && after[0] != '[' {
				continue
			}
			longest, key, value, rest = len(form), m.Content[i], m.Content[i+1], strings.TrimPrefix(after, ".")
		}
	}
	return key, value, rest
}
