package catalog

import (
	"fmt"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/jacquard-operator/jacquard/author/crdfile"
)

// Place returns file:line:column of the field at path, such as
// spec.ports[0].name, or of the deepest part of it that is in the file.
func (o *Object) Place(path string) string { return o.formatPlace(o.locateNode(path)) }

// Line is the line at which the object begins.
func (o *Object) Line() int { return o.node.Line + o.before }

// formatPlace returns file:line:column of a node.
func (o *Object) formatPlace(n *yamlv3.Node) string {
	return fmt.Sprintf("%s:%d:%d", o.file, n.Line+o.before, n.Column)
}

// locateNode returns the node of the deepest part of path.
func (o *Object) locateNode(path string) *yamlv3.Node { return crdfile.Locate(o.node, path) }
