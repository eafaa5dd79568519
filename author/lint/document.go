package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A document is one document that a way makes, and what it is of.
type document struct {
	gvk  apischema.GroupVersionKind
	root *typecheck.Node
	// patch: the object is somebody else's, and this is a part of it.
	patch bool
	// marks are the literal annotations of the document.
	marks map[string]typecheck.Entry
}

// kindAndVersion returns what messages call the document, such as "Deployment apps/v1".
func (d *document) kindAndVersion() string { return d.gvk.Kind + " " + d.gvk.GroupVersion().String() }

// checkDocuments checks what every path through every file makes.
func (l *linter) checkDocuments() {
	absent, excluded := absences{}, exclusions{}
	all := l.childDocuments()
	for _, d := range all {
		l.checkDocument(d, absent, excluded)
	}
	l.findContended(all)
	l.findCollisions(all)
	l.findings = append(l.findings, absent.toFindings()...)
	l.findings = append(l.findings, excluded.toFindings()...)
}

// childDocuments returns the documents of children that the paths through the templates make.
func (l *linter) childDocuments() []*document {
	var all []*document
	for _, file := range slices.Sorted(maps.Keys(l.flow.Paths)) {
		for _, way := range l.flow.Paths[file] {
			for _, made := range way.Documents {
				if d := newDocument(made.Root); d != nil && file != statusFile && way.Ends == "" {
					all = append(all, d)
				}
			}
		}
	}
	return all
}

// checkDocument checks one document. It records missing and excluded fields, since they depend on
// all documents of a place.
func (l *linter) checkDocument(d *document, absent absences, excluded exclusions) {
	l.checkMarks(d)
	l.checkInitials(d)
	l.checkRemovedAPI(d)
	l.checkNamePresent(d, absent)
	l.checkNames(d)
	l.checkSecrets(d.gvk, d.root)
	if d.marks[api.AnnotationSubresource].Node != nil && literalText(d.marks[api.AnnotationSubresource].Node) == "scale" {
		return // the subresource is of another type than the object
	}
	t := l.catalog.Type(d.gvk)
	f := fitter{subject: d.kindAndVersion(), unknown: InvalidChild, builtIn: schema.BuiltInType(d.gvk) != nil}
	if !d.patch {
		f.absent, f.excluded = absent, excluded
	}
	f.checkNode(d.root, t, "")
	l.findings = append(l.findings, f.findings...)
}

// newDocument is nil where it is not known what the document is of.
func newDocument(root *typecheck.Node) *document {
	apiVersion, kind := literalText(entryOf(root, "apiVersion")), literalText(entryOf(root, "kind"))
	if apiVersion == "" || kind == "" {
		return nil
	}
	d := &document{gvk: apischema.FromAPIVersionAndKind(apiVersion, kind), root: root, marks: map[string]typecheck.Entry{}}
	annotations := entryOf(entryOf(root, "metadata"), "annotations")
	if annotations == nil {
		return d
	}
	for _, e := range annotations.Keys {
		if e.Name != "" {
			d.marks[e.Name] = e
		}
	}
	d.patch = d.marks[api.AnnotationOwnership].Node != nil
	return d
}

// entryOf returns the value under a literal key of a map, or nil if there is none.
func entryOf(n *typecheck.Node, name string) *typecheck.Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Keys {
		if e.Name == name {
			return e.Node
		}
	}
	return nil
}

// literalText returns the text of a node, or "" if the node is no text or an unknown one.
func literalText(n *typecheck.Node) string {
	if n == nil || n.Value == nil || !n.Value.Known {
		return ""
	}
	text, _ := n.Value.Const.(string)
	return text
}

// absences counts, by place and name, in how many of the maps that a place of
// the templates makes a required field is missing. What only some ways leave
// out may well be there whenever it is needed, so only what all of them leave
// out is a finding.
type absences map[absence]*struct{ maps, missing int }

type absence struct {
	place template.Place
	text  string
}

// recordMap counts a map at a place, and whether a required field is missing from it.
func (a absences) recordMap(place template.Place, text string, missing bool) {
	key := absence{place, text}
	if a[key] == nil {
		a[key] = &struct{ maps, missing int }{}
	}
	a[key].maps++
	if missing {
		a[key].missing++
	}
}

// toFindings returns a finding for each place whose maps all lack the required field.
func (a absences) toFindings() []typecheck.Finding {
	var all []typecheck.Finding
	for key, n := range a {
		if n.maps == n.missing {
			all = append(all, typecheck.Finding{Class: InvalidChild, Place: key.place, Text: key.text})
		}
	}
	return all
}

// joinPath returns the path of a field of the value at path.
func joinPath(path, name string) string {
	switch {
	case path == "":
		return name
	case strings.ContainsAny(name, "./"):
		return fmt.Sprintf("%s[%s]", path, name)
	}
	return path + "." + name
}

// describeUndeclared returns the message about a field that the map at this path does not have.
func describeUndeclared(subject, path, name string, t *schema.Type) string {
	text := fmt.Sprintf("%s has no field %s", subject, joinPath(path, name))
	if near := schema.Suggest(name, t.Fields()); near != "" {
		text += "; did you mean " + joinPath(path, near) + "?"
	}
	return text
}
