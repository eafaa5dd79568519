package rbac

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// rbac is the API group of roles and bindings.
const rbac = "rbac.authorization.k8s.io"

// grants are the needs of a folder that makes roles and bindings: the API lets
// nobody grant what they do not have, but by the verbs escalate and bind.
func (w *work) grants(c kind.Child, plural string, written []string) {
	if c.Group != rbac {
		return
	}
	rules := []Rule{{Group: rbac, Resource: plural, Verbs: []string{"escalate"}, Why: []string{
		placed(c.Place) + " makes it, with rights that the writer may not have: whoever has this verb can grant any"}}}
	if strings.HasSuffix(c.Kind, "Binding") {
		rules = w.binds(c)
	}
	for _, namespace := range written {
		for _, r := range rules {
			w.add(w.writer, namespace, r)
		}
	}
}

// binds are the rules to bind the roles that bindings of a kind refer to: those
// roles alone if the templates always name them.
func (w *work) binds(c kind.Child) []Rule {
	var rules []Rule
	for _, role := range w.bound(c) {
		r := Rule{Group: rbac, Resource: role.resource, Verbs: []string{"bind"}}
		if role.name != "" {
			r.Names = []string{role.name}
			r.Why = []string{placed(role.place) + " binds this role, whose rights the writer may not have"}
		} else {
			r.Why = []string{placed(role.place) +
				" binds a role that the resource names, whose rights the writer may not have: whoever has this verb can grant any"}
		}
		rules = append(rules, r)
	}
	return rules
}

// A bindable is a role that a binding can refer to, and where the binding
// stands; name "" means any.
type bindable struct {
	resource, name string
	place          template.Place
}

func (b bindable) key() string { return b.resource + "/" + b.name }

// bound are the roles that the folder's bindings of a kind refer to.
func (w *work) bound(c kind.Child) []bindable {
	var all []bindable
	found := false
	for _, ways := range typecheck.Follow(typecheck.InputOf(w.Kind)).Paths {
		for _, way := range ways {
			for _, d := range way.Documents {
				if literal(d.Root, "kind") != c.Kind || literal(d.Root, "apiVersion") != c.GroupVersion().String() {
					continue
				}
				found = true
				all = append(all, referred(entry(d.Root, "roleRef"), d.Place)...)
			}
		}
	}
	if !found {
		all = referred(nil, c.Place)
	}
	if c.Kind == "ClusterRoleBinding" {
		all = slices.DeleteFunc(all, func(b bindable) bool { return b.resource == "roles" })
	}
	slices.SortFunc(all, func(a, b bindable) int {
		return cmp.Or(strings.Compare(a.key(), b.key()), strings.Compare(placed(a.place), placed(b.place)))
	})
	return slices.CompactFunc(all, func(a, b bindable) bool { return a.key() == b.key() })
}

// referred are the roles that a roleRef can be.
func referred(ref *typecheck.Node, at template.Place) []bindable {
	name := literal(ref, "name")
	switch literal(ref, "kind") {
	case "Role":
		return []bindable{{"roles", name, at}}
	case "ClusterRole":
		return []bindable{{"clusterroles", name, at}}
	}
	return []bindable{{"clusterroles", name, at}, {"roles", name, at}}
}

// entry is the value of a literal key, or nil.
func entry(n *typecheck.Node, key string) *typecheck.Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Keys {
		if e.Name == key {
			return e.Node
		}
	}
	return nil
}

// literal is the text of a literal key where it is always the same, or "".
func literal(n *typecheck.Node, key string) string {
	value := entry(n, key)
	if value == nil || value.Value == nil || !value.Value.Known {
		return ""
	}
	text, _ := value.Value.Const.(string)
	return text
}
