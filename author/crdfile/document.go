package crdfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A document is the tree of a definition's file, which knows where things stand.
type document struct {
	file string
	root *yaml.Node
}

// readDocument reads the one document of a file.
func readDocument(file string, data []byte) (*document, Errors) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	doc := &document{file: file}
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, yamlErrors(file, err)
		}
		switch {
		case len(node.Content) == 0 || node.Content[0].Tag == "!!null":
			if doc.root == nil {
				return nil, Errors{{File: file, Line: node.Line, Text: "the first document is empty"}}
			}
		case doc.root != nil:
			return nil, Errors{{File: file, Line: node.Content[0].Line, Text: "must hold one CustomResourceDefinition, not several documents"}}
		default:
			doc.root = node.Content[0]
		}
	}
	if doc.root == nil {
		return nil, Errors{{File: file, Text: "is empty"}}
	}
	return doc, nil
}

// newFinding makes a finding about the field at path.
func (d *document) newFinding(path, text string) *Finding {
	f := &Finding{File: d.file, Field: path, Text: text}
	if node := Locate(d.root, path); node != nil {
		f.Line, f.Column = node.Line, node.Column
	}
	return f
}

// fieldFinding makes a finding of a field error. Nothing in a definition is
// secret, so its values may be shown.
func (d *document) fieldFinding(err *field.Error) *Finding {
	path := err.Field
	if path == "<nil>" {
		path = ""
	}
	bare := *err
	bare.Field = ""
	bare.Detail = onOneLine(bare.Detail)
	if _, ok := bare.BadValue.(string); ok {
		bare.BadValue = nil
	}
	return d.newFinding(path, Describe(&bare))
}

var celPlace = regexp.MustCompile(`ERROR: <input>:(\d+:\d+): `)

// onOneLine takes the picture of the expression out of a CEL compiler's error.
func onOneLine(detail string) string {
	var lines []string
	for line := range strings.Lines(detail) {
		if !strings.HasPrefix(line, " | ") {
			lines = append(lines, celPlace.ReplaceAllString(strings.TrimSpace(line), "at $1: "))
		}
	}
	return strings.Join(lines, "; ")
}
