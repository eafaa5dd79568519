package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/template"
)

const replicas = "spec.replicas"

// describeContest returns the message about an autoscaler and a template that both write the
// replicas.
func describeContest(scaled string) string {
	return fmt.Sprintf("a HorizontalPodAutoscaler scales this %s, and the template sets its replicas back: add the annotation %s: %s, or leave replicas out",
		scaled, api.AnnotationInitialFields, replicas)
}

// findContended finds what an autoscaler of the folder scales while every path through the
// templates writes its replicas.
func (l *linter) findContended(documents []*document) {
	type target struct{ kind, name string }
	scaled := map[target]bool{}
	for _, d := range documents {
		ref := entryOf(entryOf(d.root, "spec"), "scaleTargetRef")
		if name := l.expressionOf(entryOf(ref, "name")); d.gvk.Kind == "HorizontalPodAutoscaler" && name != "" {
			scaled[target{literalText(entryOf(ref, "kind")), name}] = true
		}
	}
	// The same document may have another name on each way, and the branches of
	// its name are not those of its replicas: one way without them is enough.
	places, free := map[target][]*document{}, map[template.Place]bool{}
	for _, d := range documents {
		is := target{d.gvk.Kind, l.expressionOf(entryOf(entryOf(d.root, "metadata"), "name"))}
		switch {
		case d.patch:
		case replicasPlace(d) == nil:
			free[d.root.Place] = true
		case scaled[is]:
			places[is] = append(places[is], d)
		}
	}
	for is, all := range places {
		for _, d := range all {
			if !free[d.root.Place] {
				l.add(Contended, *replicasPlace(d), describeContest(is.kind))
			}
		}
	}
}

// replicasPlace returns where a document writes its replicas each time that it is applied, or nil
// if it may not.
func replicasPlace(d *document) *template.Place {
	if mark := d.marks[api.AnnotationInitialFields].Node; mark != nil && strings.Contains(literalText(mark), replicas) {
		return nil
	}
	spec := entryOf(d.root, "spec")
	if spec == nil {
		return nil
	}
	for _, e := range spec.Keys {
		if e.Name == "replicas" && e.Node != nil && e.Node.Value != nil && !e.Node.Value.Nil {
			return &e.Key.Place
		}
	}
	return nil
}

// expressionOf returns a text that is the same for two nodes only if they always print the same, or
// "" if that is not known.
func (l *linter) expressionOf(n *typecheck.Node) string {
	if n == nil {
		return ""
	}
	values := n.Text
	if n.Value != nil {
		values = []*typecheck.Value{n.Value}
	}
	var b strings.Builder
	for _, v := range values {
		text, isText := v.Const.(string)
		switch {
		case v.Known && isText:
			b.WriteString(text)
		case v.Exact && len(v.Sources) == 1:
			fmt.Fprintf(&b, "{{%s %s}}", v.Sources[0].Read, v.Sources[0].Path)
		case n.Value != nil && len(v.Sources) > 0:
			fmt.Fprintf(&b, "{{%v %s}}", v.Sources, strings.ReplaceAll(l.actionTextAt(n.Place), "$", ""))
		default:
			return ""
		}
	}
	return b.String()
}

// actionTextAt returns the text between the braces at a place.
func (l *linter) actionTextAt(place template.Place) string {
	lines := l.texts[place.File]
	if place.Line < 1 || place.Line > len(lines) || place.Column < 1 {
		return ""
	}
	line := []rune(lines[place.Line-1])
	if place.Column > len(line) {
		return ""
	}
	inside, _, _ := strings.Cut(strings.TrimLeft(string(line[place.Column-1:]), "{- "), "}}")
	return strings.Trim(inside, " -")
}

// findContended finds children whose replicas are applied each time, although an autoscaler of the
// same family scales them.
func (f *family) findContended() []dispute {
	var all []dispute
	for _, c := range f.children {
		scale, _, _ := unstructured.NestedString(c.Object.Object, "spec", "scaleTargetRef", "kind")
		name, _, _ := unstructured.NestedString(c.Object.Object, "spec", "scaleTargetRef", "name")
		if groupOf(c) != "autoscaling" || c.Policy.Patch {
			continue
		}
		for _, other := range f.children {
			_, written, _ := unstructured.NestedFieldNoCopy(other.Object.Object, "spec", "replicas")
			initial := slices.ContainsFunc(other.Policy.Initial, func(path []string) bool { return strings.Join(path, ".") == replicas })
			if other.Object.GetKind() == scale && other.Object.GetName() == name && other.Object.GetNamespace() == c.Object.GetNamespace() &&
				written && !initial {
				all = append(all, dispute{Contended, other, wrong{path: []any{"spec", "replicas"}, text: describeContest(scale)}})
			}
		}
	}
	return all
}
