package rbac

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
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
		place, _ := w.Kind.Placement(c.GroupVersionKind)
		watched, written := w.where(c.GroupVersionKind, place)
		w.add(Operator, watched, Rule{Group: c.Group, Resource: plural, Verbs: []string{"list", "watch"}, Why: []string{why}})
		for _, namespace := range written {
			w.add(w.writer, namespace, Rule{Group: c.Group, Resource: plural, Verbs: write, Why: []string{why}})
		}
		w.grants(c, plural, written)
		w.pods(c, written)
		w.addStorageClasses(c)
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

// pods are the needs about the Pods of children, where kind.yaml lets them be read.
func (w *work) pods(c kind.Child, written []string) {
	if !w.Kind.Settings.PodReasons || !readiness.HasPods(c.GroupKind()) {
		return
	}
	for _, namespace := range written {
		w.add(w.writer, namespace, Rule{Resource: "pods", Verbs: []string{"list"},
			Why: []string{"kind.yaml says podReasons: what the Pods of " + placed(c.Place) + " wait for is told"}})
	}
}

// addStorageClasses adds what the operator needs to read of the classes of claims, whose volumes
// may be made only once a Pod mounts them.
func (w *work) addStorageClasses(c kind.Child) {
	if readiness.ReadsClasses(w.Kind.Health, c.GroupKind()) {
		w.add(Operator, "", Rule{Group: "storage.k8s.io", Resource: "storageclasses", Verbs: []string{"list", "watch"},
			Why: []string{placed(c.Place) + " makes a claim: its class says whether the volume waits for a Pod"}})
	}
}

// home is where the resources of the kind are.
func (w *work) home() string {
	if w.CRD.Namespaced {
		return own
	}
	return ""
}

// where says where objects of a kind, placed so, are watched, and where they are
// written.
func (w *work) where(gvk apischema.GroupVersionKind, place kind.Namespaces) (watched string, written []string) {
	if w.Kind.ClusterScoped(gvk) {
		return "", []string{""}
	}
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

// owns reports whether children of a kind have an owner reference.
func (w *work) owns(gvk apischema.GroupVersionKind) bool {
	return !w.keeps(gvk) && (!w.CRD.Namespaced || !w.Kind.ClusterScoped(gvk))
}

// patches are the needs about objects that the folder patches.
func (w *work) patches() {
	for _, d := range w.Kind.Documents {
		if d.Patch() {
			place, _ := w.Kind.Placement(d.GroupVersionKind)
			w.patch(d.GroupVersionKind, d.Subresource(), place, why{d.Place, placed(d.Start) + " patches it"})
		}
	}
}

// A why is what needs a rule, and where that stands.
type why struct {
	place template.Place
	text  string
}

// patch are the needs to patch objects of a kind, or to take patches off.
func (w *work) patch(gvk apischema.GroupVersionKind, subresource string, where kind.Namespaces, because why) {
	plural := w.plural(gvk, because.place)
	if plural == "" {
		return
	}
	watched, written := w.where(gvk, where)
	rule := func(sub string, verbs ...string) Rule {
		return Rule{Group: gvk.Group, Resource: plural + sub, Verbs: verbs, Why: []string{because.text}}
	}
	w.add(Operator, watched, rule("", "list", "watch"))
	sub := ""
	if subresource != "" {
		sub = "/" + subresource
	}
	for _, namespace := range written {
		w.add(w.writer, namespace, rule(sub, "patch"))
		if w.writer == Account { // it reads by itself what the operator watches too
			w.add(w.writer, namespace, rule("", "list", "watch"))
		}
	}
}

// retired are the needs about what earlier folders made or patched, as kind.yaml
// says: to find what is left of it, and to delete it or to give it back.
func (w *work) retired() {
	for i, r := range w.Kind.Settings.Retired {
		gvk, at := r.GVK(), w.Kind.RetiredPlace(i)
		if r.Patch() {
			w.patch(gvk, r.Subresource, r.Namespaces, why{at, placed(at) + " retires it: an earlier folder patched it"})
			continue
		}
		plural := w.plural(gvk, at)
		if plural == "" {
			continue
		}
		rule := Rule{Group: gvk.Group, Resource: plural, Verbs: []string{"list", "watch"},
			Why: []string{placed(at) + " retires it: an earlier folder made it"}}
		watched, written := w.where(gvk, r.Namespaces)
		w.add(Operator, watched, rule)
		rule.Verbs = []string{"delete"}
		for _, namespace := range written {
			w.add(w.writer, namespace, rule)
		}
	}
}
