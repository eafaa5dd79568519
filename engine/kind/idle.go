package kind

import (
	"fmt"
	"maps"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/template"
)

// An Idle is a rule of kind.yaml, or a part of one, that nothing in the folder
// needs: the rights that it brings are for nobody.
type Idle struct {
	Place template.Place
	Text  string
}

// Idle returns the rules of kind.yaml that nothing needs, in their order.
func (k *Kind) Idle() []Idle {
	var all []Idle
	open := slices.ContainsFunc(k.Files, func(file string) bool { return k.open[file] })
	for i, rule := range k.Settings.Children {
		path := fmt.Sprintf("children[%d]", i)
		switch gvk := rule.GVK(); {
		case k.isLiteral(gvk):
			clusterScoped, known := k.scopeOf(gvk, k.site.Scopes)
			if known && !clusterScoped && !rule.Namespaces.Elsewhere() {
				all = append(all, k.idleSetting(path, "a document says already that the folder makes %s, in the resource's namespace: take this rule out",
					gvk.Kind))
			}
		case !open:
			all = append(all, k.idleSetting(path, "no document can be a %s: take this rule out; if an earlier folder made it, name it under retired",
				gvk.Kind))
		}
	}
	for i, rule := range k.Settings.Reads {
		all = append(all, k.idleRead(fmt.Sprintf("reads[%d]", i), rule)...)
	}
	return all
}

// Ignored returns the fields of kind.yaml that have no effect, with why.
func (k *Kind) Ignored() (all []Idle) {
	for _, field := range slices.Sorted(maps.Keys(ignoredFields)) {
		if _, isWritten := k.written[field]; isWritten {
			all = append(all, k.idleSetting(field, "%s has no effect: %s. Take it out", field, ignoredFields[field]))
		}
	}
	return all
}

// idleSetting returns an Idle at the place of a setting.
func (k *Kind) idleSetting(path, format string, args ...any) Idle {
	return Idle{k.written[path], fmt.Sprintf(format, args...)}
}

// isLiteral reports whether a literal document is of that kind.
func (k *Kind) isLiteral(gvk apischema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.Documents, func(d Document) bool { return d.GroupVersionKind == gvk })
}

// idleRead is what no template reads of a rule.
func (k *Kind) idleRead(path string, rule ReadRule) []Idle {
	var asks []template.Ask
	for _, a := range k.Asks {
		if gvk, reads := readKind(a); reads && gvk == rule.GVK() {
			asks = append(asks, a)
		}
	}
	if len(asks) == 0 {
		return []Idle{k.idleSetting(path, "no template reads %s by lookup or select: take this rule out", rule.Kind)}
	}
	var all []Idle
	for i, namespace := range rule.Namespaces {
		if !slices.ContainsFunc(asks, func(a template.Ask) bool { return a.AnyNamespace || a.Object.Namespace == namespace }) {
			all = append(all, k.idleSetting(fmt.Sprintf("%s.namespaces[%d]", path, i), "no template reads %s there: take this namespace out",
				rule.Kind))
		}
	}
	for i, name := range rule.Names {
		if !slices.ContainsFunc(asks, func(a template.Ask) bool { return a.AnyName || a.Object.Name == name }) {
			all = append(all, k.idleSetting(fmt.Sprintf("%s.names[%d]", path, i), "no template reads the %s of this name: take it out", rule.Kind))
		}
	}
	return all
}
