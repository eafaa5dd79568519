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

// addGrants adds the rules for a folder that makes roles and bindings. The API lets nobody grant
// what they do not have, except by the verbs escalate and bind.
func (w *work) addGrants(c kind.Child, plural string, written []string) {
	if c.Group != rbac {
		return
	}
	rules := []Rule{{Group: rbac, Resource: plural, Verbs: []string{"escalate"}, Why: []string{
		formatPlace(c.Place) + " makes it, with rights that the writer may not have: whoever has this verb can grant any"}}}
	if strings.HasSuffix(c.Kind, "Binding") {
		rules = w.bindRules(c)
	}
	for _, namespace := range written {
		for _, r := range rules {
			w.add(w.writer, namespace, r)
		}
	}
}

// bindRules returns the rules to bind the roles that bindings of a kind refer to. If the templates
// always name the roles, the rules are limited to these.
func (w *work) bindRules(c kind.Child) []Rule {
	var rules []Rule
	for _, role := range w.findBoundRoles(c) {
		r := Rule{Group: rbac, Resource: role.resource, Verbs: []string{"bind"}}
		if role.name != "" {
			r.Names = []string{role.name}
			r.Why = []string{formatPlace(role.place) + " binds this role, whose rights the writer may not have"}
		} else {
			r.Why = []string{formatPlace(role.place) +
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

// roleKey returns the resource and the name of the role.
func (b bindable) roleKey() string { return b.resource + "/" + b.name }

// findBoundRoles returns the roles that the folder's bindings of a kind refer to.
func (w *work) findBoundRoles(c kind.Child) []bindable {
	var all []bindable
	found := false
	for _, ways := range typecheck.Follow(typecheck.InputOf(w.Kind)).Paths {
		for _, way := range ways {
			for _, d := range way.Documents {
				if literalText(d.Root, "kind") != c.Kind || literalText(d.Root, "apiVersion") != c.GroupVersion().String() {
					continue
				}
				found = true
				all = append(all, referredRoles(findEntry(d.Root, "roleRef"), d.Place)...)
			}
		}
	}
	if !found {
		all = referredRoles(nil, c.Place)
	}
	if c.Kind == "ClusterRoleBinding" {
		all = slices.DeleteFunc(all, func(b bindable) bool { return b.resource == "roles" })
	}
	slices.SortFunc(all, func(a, b bindable) int {
		return cmp.Or(strings.Compare(a.roleKey(), b.roleKey()), strings.Compare(formatPlace(a.place), formatPlace(b.place)))
	})
	return slices.CompactFunc(all, func(a, b bindable) bool { return a.roleKey() == b.roleKey() })
}

// referredRoles returns the roles that a roleRef can refer to.
func referredRoles(ref *typecheck.Node, at template.Place) []bindable {
	name := literalText(ref, "name")
	switch literalText(ref, "kind") {
	case "Role":
		return []bindable{{"roles", name, at}}
	case "ClusterRole":
		return []bindable{{"clusterroles", name, at}}
	}
	return []bindable{{"clusterroles", name, at}, {"roles", name, at}}
}

// findEntry returns the value of a literal key, or nil.
func findEntry(n *typecheck.Node, key string) *typecheck.Node {
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

// literalText returns the text of a literal key where it is always the same, or "".
func literalText(n *typecheck.Node, key string) string {
	value := findEntry(n, key)
	if value == nil || value.Value == nil || !value.Value.Known {
		return ""
	}
	text, _ := value.Value.Const.(string)
	return text
}
