package rights

import (
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// children are the needs about what the folder makes. The operator watches all
// children by itself; they are written by its account, or as kind.yaml's.
func (w *work) children() {
	owned := template.Place{}
	for _, c := range w.Kind.Children {
		plural := w.plural(c.GroupVersionKind, c.Place)
		if plural == "" {
			continue
		}
		why, write := placed(c.Place)+" makes it", []string{"get", "create", "patch", "delete"}
		if w.keeps(c.GroupVersionKind) {
			why, write = why+", and it is never deleted", []string{"get", "create", "patch"}
		}
		watched, written := w.where(c.GroupVersionKind)
		w.add(Operator, watched, Rule{Group: c.Group, Resource: plural, Verbs: []string{"list", "watch"}, Why: []string{why}})
		for _, namespace := range written {
			w.add(w.writer, namespace, Rule{Group: c.Group, Resource: plural, Verbs: write, Why: []string{why}})
		}
		w.grants(c, plural, written)
		if owned.File == "" && w.owns(c.GroupVersionKind) {
			owned = c.Place
		}
	}
	if owned.File == "" {
		return
	}
	w.add(w.writer, w.home(), Rule{Group: w.CRD.Group, Resource: w.CRD.Plural + "/finalizers", Verbs: []string{"update"}, Why: []string{
		placed(owned) + " makes a child whose owner reference blocks the deletion of the resource"}})
}

// home is where the resources of the kind are.
func (w *work) home() string {
	if w.CRD.Namespaced {
		return own
	}
	return ""
}

// where says where children of a kind are watched, and where they are written.
func (w *work) where(gvk apischema.GroupVersionKind) (watched string, written []string) {
	if w.Kind.ClusterScoped(gvk) {
		return "", []string{""}
	}
	place, _ := w.Kind.Placement(gvk)
	if w.CRD.Namespaced {
		written = append(written, own)
	}
	written = append(written, place.Listed...)
	if place.Rendered {
		return "", []string{""}
	}
	if len(w.Namespaces) == 0 && w.Into == "" {
		return "", written
	}
	return own, written
}

// owns says whether children of a kind have an owner reference.
func (w *work) owns(gvk apischema.GroupVersionKind) bool {
	return !w.keeps(gvk) && (!w.CRD.Namespaced || !w.Kind.ClusterScoped(gvk))
}

// patches are the needs about objects that the folder patches.
func (w *work) patches() {
	for _, d := range w.Kind.Documents {
		if !d.Patch() {
			continue
		}
		plural := w.plural(d.GroupVersionKind, d.Place)
		if plural == "" {
			continue
		}
		why := []string{placed(d.Start) + " patches it"}
		watched, written := w.where(d.GroupVersionKind)
		rule := func(sub string, verbs ...string) Rule {
			return Rule{Group: d.Group, Resource: plural + sub, Verbs: verbs, Why: why}
		}
		w.add(Operator, watched, rule("", "list", "watch"))
		sub := ""
		if d.Subresource() != "" {
			sub = "/" + d.Subresource()
		}
		for _, namespace := range written {
			w.add(w.writer, namespace, rule(sub, "patch"))
			if w.writer == Account { // it reads by itself what the operator watches too
				w.add(w.writer, namespace, rule("", "list", "watch"))
			}
		}
	}
}

// before are the needs about what earlier folders made.
func (w *work) before() {
	has := func(gvk apischema.GroupVersionKind, patched bool) bool {
		return w.Kind != nil && slices.ContainsFunc(w.Kind.Documents, func(d kind.Document) bool {
			return d.GroupKind() == gvk.GroupKind() && d.Patch() == patched
		})
	}
	for _, gvk := range w.Before.Children {
		if !has(gvk, false) {
			w.left(gvk, "delete", "an earlier folder made it ("+api.AnnotationChildKinds+")")
		}
	}
	for _, gvk := range w.Before.Patched {
		if !has(gvk, true) {
			w.left(gvk, "patch", "an earlier folder patched it ("+api.AnnotationPatchedKinds+")")
		}
	}
}

func (w *work) left(gvk apischema.GroupVersionKind, verb, why string) {
	plural := w.plural(gvk, template.Place{File: "CRD " + w.CRD.Name})
	if plural == "" {
		return
	}
	where := own
	if schema.ClusterScoped(gvk.GroupKind()) {
		where = ""
	}
	w.add(Operator, where, Rule{Group: gvk.Group, Resource: plural, Verbs: []string{"list", "watch"}, Why: []string{why}})
	w.add(w.writer, where, Rule{Group: gvk.Group, Resource: plural, Verbs: []string{verb}, Why: []string{why}})
}
