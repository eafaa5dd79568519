package crdfile

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Locate returns the node of the deepest part of path, such as
// spec.ports[0].name, that is below root: the key of a field, or an item of a
// list; root itself if there is none.
func Locate(root *yaml.Node, path string) *yaml.Node {
	node, at := root, root
	for path != "" && node != nil {
		if node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		var next, key *yaml.Node
		switch node.Kind {
		case yaml.SequenceNode:
			next, path = itemOf(node, path)
			key = next
		case yaml.MappingNode:
			key, next, path = entryOf(node, path)
		}
		if next == nil {
			break
		}
		node, at = next, key
	}
	return at
}

// itemOf returns the list item that path starts with, and the rest of path.
func itemOf(list *yaml.Node, path string) (*yaml.Node, string) {
	index, rest, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
	i, err := strconv.Atoi(index)
	if !found || err != nil || i < 0 || i >= len(list.Content) {
		return nil, path
	}
	return list.Content[i], strings.TrimPrefix(rest, ".")
}

// entryOf returns the key and value of the map entry that path starts with, and the
// rest of path. Keys may hold dots, so the longest that fits is taken; paths say
// them after a dot or in brackets.
func entryOf(m *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	longest := -1
	for i := 0; i+1 < len(m.Content); i += 2 {
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

// LocateIn returns where in its file the field of a definition at path stands, such as
// spec.versions[0].name, or the deepest part of it that is there; 0, 0 for a live
// definition. Both count from 1.
func LocateIn(crd *schema.CRD, path string) (line, column int) {
	if crd.Source == nil {
		return 0, 0
	}
	at := Locate(crd.Source, path)
	return at.Line, at.Column
}
