package rbac

import (
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// addReads adds the rules for what templates look up and select.
func (w *work) addReads() {
	for _, r := range w.Kind.ReadKinds() {
		place := w.findRead(r.GroupVersionKind)
		plural := w.findPlural(r.GroupVersionKind, place)
		if plural == "" {
			continue
		}
		rule := Rule{Group: r.Group, Resource: plural, Verbs: []string{"list", "watch"}, Why: []string{formatPlace(place) + " reads it"}}
		if r.Own {
			w.add(w.writer, own, rule)
		}
		for _, declared := range r.Rules {
			rule.Names = declared.Names
			for _, namespace := range w.ruleNamespaces(declared) {
				w.add(w.writer, namespace, rule)
			}
		}
	}
}

// ruleNamespaces returns the namespaces of a rule. A cluster-scoped kind has none.
func (*work) ruleNamespaces(r kind.ReadRule) []string {
	if r.Namespaces == nil {
		return []string{""}
	}
	return r.Namespaces
}

// findRead returns the place where the templates first read a kind.
func (w *work) findRead(gvk apischema.GroupVersionKind) template.Place {
	for _, a := range w.Kind.Asks {
		if (a.Function == "lookup" || a.Function == "select") && gvk == apischema.FromAPIVersionAndKind(a.Object.APIVersion, a.Object.Kind) {
			return a.Place
		}
	}
	return template.Place{}
}
