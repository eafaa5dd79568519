package lint

import (
	"fmt"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// checkMarks checks the annotations of a document and of the objects in it.
func (l *linter) checkMarks(d *document) {
	for name, e := range d.marks {
		if domain, mark, _ := strings.Cut(name, "/"); domain != api.Domain && schema.Suggest(domain, []string{api.Domain}) != "" {
			l.add(InvalidAnnotation, e.Key.Place, fmt.Sprintf("%s means nothing here; did you mean %s?", name, meantMark(mark)))
		}
	}
	for _, e := range d.root.Keys {
		if e.Name != "metadata" {
			l.innerMarks(e.Node, d)
		}
	}
	l.jobTTL(d)
}

// meantMark is the annotation of ours that a misspelt one most likely means.
func meantMark(mark string) string {
	name := api.Domain + "/" + mark
	if near := schema.Suggest(name, api.AuthorAnnotations); near != "" && !slices.Contains(api.AuthorAnnotations, name) {
		return near
	}
	return name
}

// innerMarks finds annotations of ours where they are about no document.
func (l *linter) innerMarks(n *typecheck.Node, d *document) {
	if n == nil {
		return
	}
	for _, e := range n.Keys {
		if e.Name == "annotations" && e.Node != nil {
			for _, mark := range e.Node.Keys {
				if slices.Contains(api.AuthorAnnotations, mark.Name) {
					l.add(InvalidAnnotation, mark.Key.Place, fmt.Sprintf("%s says nothing in a template of %s: it belongs in the metadata of the document itself",
						mark.Name, d.gvk.Kind))
				}
			}
		}
		l.innerMarks(e.Node, d)
	}
	for _, item := range n.Items {
		l.innerMarks(item, d)
	}
}

var job = apischema.GroupKind{Group: "batch", Kind: "Job"}

// jobTTL finds Jobs that go when they have ended, and would then be made and
// run again.
func (l *linter) jobTTL(d *document) {
	spec := entryOf(d.root, "spec")
	if d.gvk.GroupKind() != job || d.patch || spec == nil || d.marks[api.AnnotationRunOnce].Node != nil {
		return
	}
	for _, e := range spec.Keys {
		if e.Name == "ttlSecondsAfterFinished" {
			l.add(JobTTL, e.Key.Place, fmt.Sprintf(
				"a Job that goes after it has ended is made and run again: add the annotation %s: \"true\", or take ttlSecondsAfterFinished off",
				api.AnnotationRunOnce))
		}
	}
}

// checkInitials finds paths of initial fields that the document cannot have.
func (l *linter) checkInitials(d *document) {
	mark := d.marks[api.AnnotationInitialFields].Node
	paths, err := kind.InitialPaths(literalText(mark))
	if mark == nil || err != nil { // which is told when it is compiled
		return
	}
	for _, path := range paths {
		t, at := l.catalog.Type(d.gvk), ""
		for _, step := range path {
			field, found := t.Field(step)
			if !found {
				l.add(InvalidAnnotation, mark.Place, fmt.Sprintf("%s: %s", api.AnnotationInitialFields,
					describeUndeclared(d.kindAndVersion(), at, step, t)))
				break
			}
			t, at = field, joinPath(at, step)
		}
	}
}
