package rights

import (
	"fmt"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// reads are the needs about what templates look up and select.
func (w *work) reads() {
	for _, r := range w.Kind.ReadKinds() {
		verbs, place := w.asked(r.GroupVersionKind)
		plural := w.plural(r.GroupVersionKind, place)
		if plural == "" {
			continue
		}
		why := []string{placed(place) + " reads it"}
		if r.Own {
			w.add(w.writer, own, Rule{Group: r.Group, Resource: plural, Verbs: verbs, Why: why})
		}
		for _, declared := range r.Rules {
			rule := Rule{Group: r.Group, Resource: plural, Names: declared.Names, Verbs: verbs, Why: why}
			if len(declared.Names) > 0 { // it is watched by its name
				rule.Verbs = []string{"list", "watch"}
			}
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

// asked are the verbs that the questions about a kind need, and where the first
// stands. What is asked for by name may be fetched by itself.
func (w *work) asked(gvk apischema.GroupVersionKind) (verbs []string, first template.Place) {
	verbs = []string{"list", "watch"}
	for _, a := range w.Kind.Asks {
		if a.Function != "lookup" && a.Function != "select" ||
			gvk != apischema.FromAPIVersionAndKind(a.Object.APIVersion, a.Object.Kind) {
			continue
		}
		if first.File == "" {
			first = a.Place
		}
		if a.Function == "lookup" {
			verbs = append(verbs, "get")
		}
	}
	return ordered(verbs), first
}

// Unlimited says why a kind cannot be served by an operator that is limited to
// some namespaces; nil if it can.
func Unlimited(k *kind.Kind, namespaces []string) error {
	for i, c := range k.Settings.Children {
		if c.Namespaces.Rendered {
			return fmt.Errorf("templates/%s/kind.yaml: children[%d] are in namespaces that the resource makes itself, so the operator cannot be limited to %v: leave out --namespaces", k.Name, i, namespaces)
		}
	}
	return nil
}
