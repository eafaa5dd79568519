package rbac

import (
	"slices"
)

// verbs are all verbs that a rule may have, in the order in which they are
// written.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind", "escalate"}

// A Rule allows verbs on one resource.
type Rule struct {
	Group string
	// Resource is the plural name, with /SUBRESOURCE if it is about one.
	Resource string
	// Names are the only objects that it is about; none means all.
	Names []string
	// Verbs are sorted as people write them: get, list, watch, …
	Verbs []string
	// Why says what needs it, a reason each.
	Why []string
}

// A Request is what RBAC judges.
type Request struct {
	Verb, Group string
	// Resource is the plural name, with /SUBRESOURCE if it is about one.
	Resource string
	// Namespace is "" for cluster-scoped objects and for all namespaces, Name
	// for all objects.
	Namespace, Name string
}

// Allows reports whether the rule allows a request, wherever that is.
func (r Rule) Allows(q Request) bool {
	return r.Group == q.Group && r.Resource == q.Resource && slices.Contains(r.Verbs, q.Verb) &&
		(len(r.Names) == 0 || slices.Contains(r.Names, q.Name))
}

// hasSameObjects reports whether two rules are about the same objects.
func (r Rule) hasSameObjects(o Rule) bool {
	return r.Group == o.Group && r.Resource == o.Resource && slices.Equal(r.Names, o.Names)
}

// coversObjects reports whether a rule is about all objects of another, and perhaps more.
func (r Rule) coversObjects(o Rule) bool {
	return r.Group == o.Group && r.Resource == o.Resource && (len(r.Names) == 0 || slices.Equal(r.Names, o.Names))
}

// joinRules makes one rule of those about the same objects, in the order in which they first occur.
// It leaves out what a wider rule allows anyway.
func joinRules(rules []Rule) []Rule {
	var all []Rule
	for _, r := range rules {
		i := slices.IndexFunc(all, r.hasSameObjects)
		if i < 0 {
			all = append(all, Rule{Group: r.Group, Resource: r.Resource, Names: r.Names})
			i = len(all) - 1
		}
		all[i].Verbs = append(all[i].Verbs, r.Verbs...)
		for _, why := range r.Why {
			if !slices.Contains(all[i].Why, why) {
				all[i].Why = append(all[i].Why, why)
			}
		}
	}
	for i := range all {
		if len(all[i].Names) > 0 {
			all[i].Verbs = dropAllowed(all[i].Verbs, all, all[i])
		}
		all[i].Verbs = sortVerbs(all[i].Verbs)
	}
	return slices.DeleteFunc(all, func(r Rule) bool { return len(r.Verbs) == 0 })
}

// dropAllowed returns the verbs that no wider rule among these allows.
func dropAllowed(verbs []string, among []Rule, narrow Rule) []string {
	return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool {
		return slices.ContainsFunc(among, func(r Rule) bool {
			return r.coversObjects(narrow) && !r.hasSameObjects(narrow) && slices.Contains(r.Verbs, verb)
		})
	})
}

// sortVerbs sorts verbs as people write them, each once.
func sortVerbs(all []string) []string {
	slices.SortFunc(all, func(a, b string) int { return slices.Index(verbs, a) - slices.Index(verbs, b) })
	return slices.Compact(all)
}
