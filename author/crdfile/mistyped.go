package crdfile

import (
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/author/apiserver"
)

// intoField takes apart the decoder's error about a value of the wrong type. It
// names the field by its path without list indices and map keys.
var intoField = regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field [A-Za-z0-9]+\.(\S+) of type (\S+)`)

// typeFinding makes the finding of a value of the wrong type.
func (d *document) typeFinding(err error) *Finding {
	m := intoField.FindStringSubmatch(err.Error())
	if m == nil {
		return d.newFinding("", strings.TrimPrefix(err.Error(), "json: "))
	}
	got, path, want := m[1], m[2], m[3]
	f := &Finding{File: d.file, Field: path, Text: fmt.Sprintf("must be %s, not %s", apiserver.TypePhrase(want), apiserver.TypePhrase(got))}
	if node := findMistyped(d.root, strings.Split(path, "."), got); node != nil {
		f.Line, f.Column = node.Line, node.Column
	}
	return f
}

// findMistyped finds the first value of JSON type got at whose path all the segments
// occur in order, the last as its key.
func findMistyped(node *yaml.Node, segments []string, got string) *yaml.Node {
	for i, value := range node.Content {
		if node.Kind == yaml.SequenceNode {
			if found := findMistyped(value, segments, got); found != nil {
				return found
			}
			continue
		}
		if i%2 == 0 {
			continue
		}
		rest := segments
		if node.Content[i-1].Value == segments[0] {
			if len(segments) == 1 {
				if jsonType(value) == got {
					return value
				}
			} else {
				rest = segments[1:]
			}
		}
		if found := findMistyped(value, rest, got); found != nil {
			return found
		}
	}
	return nil
}

// jsonType names the JSON type of a node as decoding errors do.
func jsonType(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "object"
	case yaml.SequenceNode:
		return "array"
	}
	switch node.Tag {
	case "!!int", "!!float":
		return "number"
	case "!!bool":
		return "bool"
	}
	return "string"
}
