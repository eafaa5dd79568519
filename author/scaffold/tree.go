package scaffold

import (
	"bytes"
	"fmt"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// A node is a part of a YAML document; comments and styles of its author stay
// with it. A nil node is absent.
type node = yamlv3.Node

// findNode returns the value at a path of keys, or nil if there is none.
func findNode(n *node, path ...string) *node {
	for _, key := range path {
		i := keyIndex(n, key)
		if i < 0 {
			return nil
		}
		n = n.Content[i+1]
	}
	return n
}

// keyIndex returns where a key of a map stands in its contents, or -1.
func keyIndex(n *node, key string) int {
	if n == nil || n.Kind != yamlv3.MappingNode {
		return -1
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// textAt returns the text at a path, or "" if there is none.
func textAt(n *node, path ...string) string {
	if n = findNode(n, path...); n == nil || n.Kind != yamlv3.ScalarNode {
		return ""
	}
	return n.Value
}

// listItems returns the items of a list at a path.
func listItems(n *node, path ...string) []*node {
	if n = findNode(n, path...); n == nil || n.Kind != yamlv3.SequenceNode {
		return nil
	}
	return n.Content
}

// eachEntry calls f for each entry of a map.
func eachEntry(n *node, f func(key string, value *node)) {
	if n == nil || n.Kind != yamlv3.MappingNode {
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		f(n.Content[i].Value, n.Content[i+1])
	}
}

// dropKey takes out the key at the end of a path. It also takes out the maps that become empty,
// except for the root.
func dropKey(n *node, path ...string) {
	parent := findNode(n, path[:len(path)-1]...)
	i := keyIndex(parent, path[len(path)-1])
	if i < 0 {
		return
	}
	parent.Content = slices.Delete(parent.Content, i, i+2)
	if len(parent.Content) == 0 && len(path) > 1 {
		dropKey(n, path[:len(path)-1]...)
	}
}

// putText sets the text at a path and makes the maps above it.
func putText(n *node, value string, path ...string) {
	for i, key := range path {
		next := findNode(n, key)
		if next == nil {
			next = &node{Kind: yamlv3.MappingNode, Tag: "!!map"}
			if i == len(path)-1 {
				next = &node{Kind: yamlv3.ScalarNode}
			}
			n.Content = append(n.Content, &node{Kind: yamlv3.ScalarNode, Tag: "!!str", Value: key}, next)
		}
		n = next
	}
	n.SetString(value)
}

// walkNodes calls f for a node and all below it, with the path of keys. The items of a list have
// the path of the list.
func walkNodes(n *node, path []string, f func(path []string, n *node)) {
	if n == nil {
		return
	}
	f(path, n)
	switch n.Kind {
	case yamlv3.MappingNode:
		eachEntry(n, func(key string, value *node) { walkNodes(value, append(slices.Clip(path), key), f) })
	case yamlv3.SequenceNode:
		for _, item := range n.Content {
			walkNodes(item, path, f)
		}
	}
}

// decodeNode returns the value of a node, as kubectl reads it.
func decodeNode(n *node) (any, error) {
	data, err := yamlv3.Marshal(n)
	if err != nil {
		return nil, err
	}
	data, err = yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, err
	}
	var v any
	return v, utiljson.Unmarshal(data, &v)
}

// valueOf is what a node says that was read before.
func valueOf(n *node) any {
	v, err := decodeNode(n)
	if err != nil {
		panic(fmt.Sprintf("a part of a sound document is not sound: %v", err))
	}
	return v
}

// nodeOf is a node that says v.
func nodeOf(v any) (*node, error) {
	n := &node{}
	err := n.Encode(v)
	return n, err
}

// printNode prints a node as the templates of this project are written.
func printNode(n *node) (string, error) {
	var b bytes.Buffer
	e := yamlv3.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(n); err != nil {
		return "", err
	}
	return b.String(), e.Close()
}
