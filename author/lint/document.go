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

// subject is how messages call it, such as "Deployment apps/v1".
func (d *document) subject() string { return d.gvk.Kind + " " + d.gvk.GroupVersion().String() }

// documents checks what every way of every file makes.
func (l *linter) documents() {
	absent, excluded := absences{}, exclusions{}
	all := l.made()
	for _, d := range all {
		l.document(d, absent, excluded)
	}
	l.contended(all)
	l.collisions(all)
	l.findings = append(l.findings, absent.findings()...)
	l.findings = append(l.findings, excluded.findings()...)
}

// made are the documents of children that the ways make.
func (l *linter) made() []*document {
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

func (l *linter) document(d *document, absent absences, excluded exclusions) {
	l.marks(d)
	l.initials(d)
	l.removed(d)
	l.named(d, absent)
	l.names(d)
	l.secrets(d.gvk, d.root)
	if d.marks[api.AnnotationSubresource].Node != nil && literal(d.marks[api.AnnotationSubresource].Node) == "scale" {
		return // the subresource is of another type than the object
	}
	t := l.catalog.Type(d.gvk)
	f := fitter{subject: d.subject(), unknown: InvalidChild, builtIn: schema.BuiltInType(d.gvk) != nil}
	if !d.patch {
		f.absent, f.excluded = absent, excluded
	}
	f.node(d.root, t, "")
	l.findings = append(l.findings, f.findings...)
}

// newDocument is nil where it is not known what the document is of.
func newDocument(root *typecheck.Node) *document {
	apiVersion, kind := literal(entry(root, "apiVersion")), literal(entry(root, "kind"))
	if apiVersion == "" || kind == "" {
		return nil
	}
	d := &document{gvk: apischema.FromAPIVersionAndKind(apiVersion, kind), root: root, marks: map[string]typecheck.Entry{}}
	annotations := entry(entry(root, "metadata"), "annotations")
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

// entry is the value under a literal key of a map; nil if there is none.
func entry(n *typecheck.Node, name string) *typecheck.Node {
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

// literal is the text that a node is; "" if it is none that is known.
func literal(n *typecheck.Node) string {
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

// note reports whether a required field is missing from a map at a place.
func (a absences) note(place template.Place, text string, missing bool) {
	key := absence{place, text}
	if a[key] == nil {
		a[key] = &struct{ maps, missing int }{}
	}
	a[key].maps++
	if missing {
		a[key].missing++
	}
}

func (a absences) findings() []typecheck.Finding {
	var all []typecheck.Finding
	for key, n := range a {
		if n.maps == n.missing {
			all = append(all, typecheck.Finding{Class: InvalidChild, Place: key.place, Text: key.text})
		}
	}
	return all
}

// below is the path of a field.
func below(path, name string) string {
	switch {
	case path == "":
		return name
	case strings.ContainsAny(name, "./"):
		return fmt.Sprintf("%s[%s]", path, name)
	}
	return path + "." + name
}

// undeclared says that there is no such field in the place of this path.
func undeclared(subject, path, name string, t *schema.Type) string {
	text := fmt.Sprintf("%s has no field %s", subject, below(path, name))
	if near := schema.Suggest(name, t.Fields()); near != "" {
		text += "; did you mean " + below(path, near) + "?"
	}
	return text
}
