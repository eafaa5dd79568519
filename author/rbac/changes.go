package rbac

import (
	"cmp"
	"maps"
	"slices"
)

// A Change is what a role allows since an earlier state of its folder, and what it
// no longer allows.
type Change struct {
	// Role has neither rules nor labels.
	Role Role
	// Added and Removed are rules with one name each, if they are limited to names.
	Added, Removed []Rule
	// Labelled and Unlabelled are labels, as KEY: VALUE. By some of them the
	// cluster's own roles take up the role.
	Labelled, Unlabelled []string
}

// Widens reports whether somebody may do more than before.
func (c Change) Widens() bool { return len(c.Added) > 0 || len(c.Labelled) > 0 }

// Changes compares the roles of an earlier state with those of now. It compares each
// role with that of the same name alone: what another role allows may not be bound.
func Changes(before, after []Role) []Change {
	type key struct{ namespace, name string }
	by := func(roles []Role) map[key]Role {
		all := map[key]Role{}
		for _, r := range roles {
			all[key{r.Namespace, r.Name}] = r
		}
		return all
	}
	was, is := by(before), by(after)
	keys := maps.Clone(was)
	maps.Copy(keys, is)
	var all []Change
	for k := range keys {
		c := Change{Role: keys[k], Added: findSurplus(is[k], was[k]), Removed: findSurplus(was[k], is[k]),
			Labelled: diffLabels(is[k], was[k]), Unlabelled: diffLabels(was[k], is[k])}
		c.Role.Rules, c.Role.Labels = nil, nil
		if c.Widens() || len(c.Removed) > 0 || len(c.Unlabelled) > 0 {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Change) int {
		if a.Widens() != b.Widens() { // what matters most comes first
			return map[bool]int{true: -1, false: 1}[a.Widens()]
		}
		return cmp.Or(cmp.Compare(a.Role.Name, b.Role.Name), cmp.Compare(a.Role.Namespace, b.Role.Namespace))
	})
	return all
}

// findSurplus returns the rules of a role that allow what another one does not.
func findSurplus(role, other Role) []Rule {
	missing, _ := Missing([]Role{role}, func(q Request) (bool, error) { return other.Allows(q), nil }) // it never fails
	if len(missing) == 0 {
		return nil
	}
	return missing[0].Rules
}

// diffLabels returns the labels of a role that another one does not have.
func diffLabels(role, other Role) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(role.Labels)) {
		if role.Labels[name] != other.Labels[name] {
			all = append(all, name+": "+role.Labels[name])
		}
	}
	return all
}
