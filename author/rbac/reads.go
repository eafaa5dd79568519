package rbac

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// reads are the needs about what templates look up and select.
func (w *work) reads() {
	for _, r := range w.Kind.ReadKinds() {
		place := w.asked(r.GroupVersionKind)
		plural := w.plural(r.GroupVersionKind, place)
		if plural == "" {
			continue
		}
		rule := Rule{Group: r.Group, Resource: plural, Verbs: []string{"list", "watch"}, Why: []string{placed(place) + " reads it"}}
		if r.Own {
			w.add(w.writer, own, rule)
		}
		for _, declared := range r.Rules {
			rule.Names = declared.Names
			for _, namespace := range w.declared(declared) {
				w.add(w.writer, namespace, rule)
			}
		}
	}
}

// declared are the namespaces of a rule; a cluster-scoped kind has none.
func (*work) declared(r kind.ReadRule) []string {
	if r.Namespaces == nil {
		return []string{""}
	}
	return r.Namespaces
}

// asked is where the first question about a kind stands.
func (w *work) asked(gvk apischema.GroupVersionKind) template.Place {
	for _, a := range w.Kind.Asks {
		if (a.Function == "lookup" || a.Function == "select") && gvk == apischema.FromAPIVersionAndKind(a.Object.APIVersion, a.Object.Kind) {
			return a.Place
		}
	}
	return template.Place{}
}
