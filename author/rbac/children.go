package rbac

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// addChildren adds the rules to watch and to write what the folder makes. The operator always
// watches with its own account. It writes with that account too, unless kind.yaml names another.
func (w *work) addChildren() {
	owned := template.Place{}
	for _, c := range w.Kind.Children {
		plural := w.findPlural(c.GroupVersionKind, c.Place)
		if plural == "" {
			continue
		}
		why, write := formatPlace(c.Place)+" makes it", []string{"get", "create", "patch", "delete"}
		if w.keepsChildren(c.GroupVersionKind) {
			why, write = why+", and it is never deleted", []string{"get", "create", "patch"}
		}
		place, _ := w.Kind.Placement(c.GroupVersionKind)
		watched, written := w.findNamespaces(c.GroupVersionKind, place)
		w.add(Operator, watched, Rule{Group: c.Group, Resource: plural, Verbs: []string{"list", "watch"}, Why: []string{why}})
		for _, namespace := range written {
			w.add(w.writer, namespace, Rule{Group: c.Group, Resource: plural, Verbs: write, Why: []string{why}})
		}
		w.addGrants(c, plural, written)
		w.addPodRules(c, written)
		w.addStorageClasses(c)
		if owned.File == "" && w.hasOwnerReference(c.GroupVersionKind) {
			owned = c.Place
		}
	}
	if owned.File == "" {
		return
	}
	w.add(w.writer, w.homeNamespace(), Rule{Group: w.CRD.Group, Resource: w.CRD.Plural + "/finalizers", Verbs: []string{"update"},
		Why: []string{formatPlace(owned) + " makes a child whose owner reference blocks the deletion of the resource"}})
}

// addPodRules adds the rules to read the Pods of children, where kind.yaml lets them be read.
func (w *work) addPodRules(c kind.Child, written []string) {
	if !w.Kind.Settings.ReportPodReasons || !readiness.HasPods(c.GroupKind()) {
		return
	}
	for _, namespace := range written {
		w.add(w.writer, namespace, Rule{Resource: "pods", Verbs: []string{"list"},
			Why: []string{"kind.yaml says reportPodReasons: what the Pods of " + formatPlace(c.Place) + " wait for is told"}})
	}
}

// addStorageClasses adds what the operator needs to read of the classes of claims, whose volumes
// may be made only once a Pod mounts them.
func (w *work) addStorageClasses(c kind.Child) {
	if readiness.ReadsClasses(w.Kind.Health, c.GroupKind()) {
		w.add(Operator, "", Rule{Group: "storage.k8s.io", Resource: "storageclasses", Verbs: []string{"list", "watch"},
			Why: []string{formatPlace(c.Place) + " makes a claim: its class says whether the volume waits for a Pod"}})
	}
}

// homeNamespace returns where the resources of the kind are: own, or "" if they have no namespace.
func (w *work) homeNamespace() string {
	if w.CRD.Namespaced {
		return own
	}
	return ""
}

// findNamespaces returns the namespaces in which objects of a kind are watched and written. place
// is where the objects may be.
func (w *work) findNamespaces(gvk apischema.GroupVersionKind, place kind.Namespaces) (watched string, written []string) {
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

// hasOwnerReference reports whether children of a kind have an owner reference.
func (w *work) hasOwnerReference(gvk apischema.GroupVersionKind) bool {
	return !w.keepsChildren(gvk) && (!w.CRD.Namespaced || !w.Kind.ClusterScoped(gvk))
}

// addPatches adds the rules for the objects that the folder patches.
func (w *work) addPatches() {
	for _, d := range w.Kind.Documents {
		if d.Patch() {
			place, _ := w.Kind.Placement(d.GroupVersionKind)
			w.addPatchRules(d.GroupVersionKind, d.Subresource(), place, why{d.Place, formatPlace(d.Start) + " patches it"})
		}
	}
}

// A why is what needs a rule, and where that stands.
type why struct {
	place template.Place
	text  string
}

// addPatchRules adds the rules to patch objects of a kind, or to take patches off.
func (w *work) addPatchRules(gvk apischema.GroupVersionKind, subresource string, where kind.Namespaces, because why) {
	plural := w.findPlural(gvk, because.place)
	if plural == "" {
		return
	}
	watched, written := w.findNamespaces(gvk, where)
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

// addRetired adds the rules for what earlier folders made or patched, which kind.yaml lists as
// retired. The operator finds what remains of it, and deletes it or releases its fields.
func (w *work) addRetired() {
	for i, r := range w.Kind.Settings.Retired {
		gvk, at := r.GVK(), w.Kind.RetiredPlace(i)
		if r.Patch() {
			w.addPatchRules(gvk, r.Subresource, r.Namespaces, why{at, formatPlace(at) + " retires it: an earlier folder patched it"})
			continue
		}
		plural := w.findPlural(gvk, at)
		if plural == "" {
			continue
		}
		rule := Rule{Group: gvk.Group, Resource: plural, Verbs: []string{"list", "watch"},
			Why: []string{formatPlace(at) + " retires it: an earlier folder made it"}}
		watched, written := w.findNamespaces(gvk, r.Namespaces)
		w.add(Operator, watched, rule)
		rule.Verbs = []string{"delete"}
		for _, namespace := range written {
			w.add(w.writer, namespace, rule)
		}
	}
}
