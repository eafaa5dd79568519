package template

import (
	"fmt"
	"strings"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template/funcs"
)

// suggestName returns the known name that a misspelt one most likely means, or "".
func suggestName(name string, known []string) string { return schema.Suggest(name, known) }

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", name)
}

// isChildFile reports whether a file of this name makes children.
func isChildFile(name string) bool { return name != "status" && !strings.HasPrefix(name, "_") }

// otherWords are words of other languages, and what to write for them.
var otherWords = map[string]string{
	"elseif": "{{ else if … }}", "elif": "{{ else if … }}", "elsif": "{{ else if … }}",
	"endif": "{{ end }}", "endrange": "{{ end }}", "endwith": "{{ end }}",
	"for": "{{ range … }}", "foreach": "{{ range … }}", "unless": "{{ if not … }}",
	"null": "nil", "none": "nil", "None": "nil", "True": "true", "False": "false",
}

// helmRoots are what a Helm chart reads, and what to read here instead.
var helmRoots = map[string]string{
	"Values":       "read the custom resource: .spec",
	"Release":      "read the custom resource: .metadata.name, .metadata.namespace",
	"Chart":        "a folder has no chart; write the text itself",
	"Files":        `put the file into the folder's files/ and use file "name"`,
	"Capabilities": `ask hasAPI "group/version" "Kind"`,
	"Template":     `write the text itself; for a checksum of a file: {{ rendered "file" | sha256sum }}`,
}

// readsHelm refuses what only a Helm chart can read.
func (c *compiler) readsHelm(n parse.Node) bool {
	var fields []string
	switch n := n.(type) {
	case *parse.FieldNode:
		fields = n.Ident
	case *parse.VariableNode:
		fields = n.Ident[1:]
	}
	if len(fields) == 0 || helmRoots[fields[0]] == "" {
		return false
	}
	c.addError(n, "there is no .%s: %s", fields[0], helmRoots[fields[0]])
	return true
}

// noTemplate says that there is no define of that name.
func (c *compiler) noTemplate(n parse.Node, name string) {
	if !c.set.lost[name] {
		c.addError(n, "there is no template %q%s", name, didYouMean(suggestName(name, sortedKeys(c.set.defines))))
	}
}

// resolveFunction resolves a name to what carries it out.
func (c *compiler) resolveFunction(n *parse.IdentifierNode) (special, *funcs.Func) {
	if f, ok := specials[n.Ident]; ok {
		return f, nil
	}
	if f, ok := funcs.Table()[n.Ident]; ok {
		return special{}, f
	}
	if reason, refused := funcs.Refused()[n.Ident]; refused {
		c.addError(n, "the function %s is not available: %s", n.Ident, reason)
		return special{}, nil
	}
	if instead := otherWords[n.Ident]; instead != "" {
		c.addError(n, "there is no function %s: write %s", n.Ident, instead)
		return special{}, nil
	}
	c.addError(n, "there is no function %s%s", n.Ident, suggestFunction(n.Ident))
	return special{}, nil
}

func suggestFunction(name string) string {
	known := sortedKeys(funcs.Table())
	known = append(known, Specials()...)
	return didYouMean(suggestName(name, known))
}
