package rbac

import (
	"fmt"
	"strings"
)

// Missing is what of the roles an account does not have, as roles with just
// these rules. allowed answers for one request; its error ends the search, and
// more may be missing then.
func Missing(roles []Role, allowed func(Request) (bool, error)) ([]Role, error) {
	var missing []Role
	for _, role := range roles {
		left := role
		left.Rules = nil
		for _, rule := range role.Rules {
			lacking, err := rule.findMissing(role.Namespace, allowed)
			if err != nil {
				return missing, err
			}
			left.Rules = append(left.Rules, lacking...)
		}
		if len(left.Rules) > 0 {
			missing = append(missing, left)
		}
	}
	return missing, nil
}

// findMissing returns what of a rule is not allowed, as a rule for each of its names.
func (r Rule) findMissing(namespace string, allowed func(Request) (bool, error)) ([]Rule, error) {
	names := r.Names
	if len(names) == 0 {
		names = []string{""}
	}
	var all []Rule
	for _, name := range names {
		left := r
		left.Verbs, left.Names = nil, nil
		if name != "" {
			left.Names = []string{name}
		}
		for _, verb := range r.Verbs {
			ok, err := allowed(Request{Verb: verb, Group: r.Group, Resource: r.Resource, Namespace: namespace, Name: name})
			if err != nil {
				return nil, err
			}
			if !ok {
				left.Verbs = append(left.Verbs, verb)
			}
		}
		if len(left.Verbs) > 0 {
			all = append(all, left)
		}
	}
	return all, nil
}

// String returns the rule as it is written in a role, on one line.
func (r Rule) String() string {
	names := ""
	if len(r.Names) > 0 {
		names = ", resourceNames: " + formatList(r.Names...)
	}
	return fmt.Sprintf("{apiGroups: %s, resources: %s%s, verbs: %s}",
		formatList(r.Group), formatList(r.Resource), names, formatList(r.Verbs...))
}

// Where says in which role a rule of this one belongs.
func (r Role) Where() string {
	if r.Namespace != "" {
		return "a Role in namespace " + r.Namespace
	}
	return "a ClusterRole"
}

// Because says what needs a rule.
func (r Rule) Because() string { return strings.Join(r.Why, "; ") }
