package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// findCollisions finds children for which two resources would use the same name.
func (l *linter) findCollisions(all []*document) {
	suffixes := map[apischema.GroupKind][]suffixed{}
	for _, d := range all {
		name := entryOf(entryOf(d.root, "metadata"), "name")
		if d.patch || name == nil {
			continue
		}
		if l.kind.CRD.Namespaced && l.kind.ClusterScoped(d.gvk) && omitsNamespace(name) {
			advice := "put {{ .metadata.namespace }}. before it, since no namespace has a dot"
			if d.gvk.GroupKind() == (apischema.GroupKind{Kind: "Namespace"}) {
				advice = `write childName .metadata.name (printf "%s/%s" .metadata.namespace .metadata.name | sha256sum | trunc 16)`
			}
			l.add(NameCollision, name.Place, d.kindAndVersion()+
				" lives in no namespace, and its name does not hold the resource's: resources in two namespaces would claim one object: "+advice)
		}
		if text := l.literalSuffixAt(name.Place); text != "" {
			suffixes[d.gvk.GroupKind()] = append(suffixes[d.gvk.GroupKind()], suffixed{text, name.Place})
		}
	}
	rules := l.validationRules()
	for gk, of := range suffixes {
		for _, long := range of {
			for _, short := range of {
				rest, ends := strings.CutSuffix(long.text, "-"+short.text)
				rule := fmt.Sprintf("!self.metadata.name.endsWith('-%s')", rest)
				if ends && rest != "" && !strings.Contains(rules, rule) {
					l.add(NameCollision, long.place,
						fmt.Sprintf("the %s that a resource x has with %q is named as that of a resource x-%s with %q: choose another suffix, or refuse such names in the CRD by the rule %s",
							gk.Kind, long.text, rest, short.text, rule))
				}
			}
		}
	}
}

// A suffixed name is what a child's name has behind the resource's, and where.
type suffixed struct {
	text  string
	place template.Place
}

// omitsNamespace reports whether no part of a name can come from the resource's namespace. An
// unknown part can.
func omitsNamespace(name *typecheck.Node) bool {
	values := name.Text
	if name.Value != nil {
		values = []*typecheck.Value{name.Value}
	}
	return len(values) > 0 && !slices.ContainsFunc(values, func(v *typecheck.Value) bool {
		return !v.Known && (len(v.Sources) == 0 || slices.ContainsFunc(v.Sources, func(s typecheck.Source) bool {
			return s.Read == "" && slices.Contains([]string{"metadata.namespace", "metadata.uid", "metadata", ""}, s.Path)
		}))
	})
}

var literalSuffix = regexp.MustCompile(`childName\s+\$?\.metadata\.name\s+"([^"]+)"|\{\{-?\s*\$?\.metadata\.name\s*-?\}\}-([\w.-]+)["']?\s*(?:#.*)?$`)

// literalSuffixAt returns the literal text behind the resource's name in the name at a place, or ""
// if there is none.
func (l *linter) literalSuffixAt(at template.Place) string {
	lines := l.texts[at.File]
	if at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	m := literalSuffix.FindStringSubmatch(lines[at.Line-1])
	if m == nil {
		return ""
	}
	return m[1] + m[2]
}
