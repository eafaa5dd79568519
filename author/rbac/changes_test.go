package rbac

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChanges: what a role allows more and less is told, a right that only another
// role gives is not taken for its own, and neither reasons nor the form of rules are
// a change.
func TestChanges(t *testing.T) {
	rule := func(resource string, verbs ...string) Rule { return Rule{Resource: resource, Verbs: verbs} }
	limited := func(r Rule, names ...string) Rule { r.Names = names; return r }
	role := func(name string, rules ...Rule) Role { return Role{Name: name, Rules: rules} }
	for name, c := range map[string]struct {
		before, after []Role
		want          []Change
		widens        bool
	}{
		"the same": {
			before: []Role{role("a", rule("pods", "get"), rule("pods", "list"))},
			after:  []Role{role("a", Rule{Resource: "pods", Verbs: []string{"get", "list"}, Why: []string{"x"}})},
		},
		"wider": {
			before: []Role{role("a", rule("pods", "get")), role("b", rule("secrets", "get"))},
			after:  []Role{role("a", rule("pods", "get", "patch"), rule("secrets", "get")), role("b", rule("secrets", "get"))},
			want:   []Change{{Role: role("a"), Added: []Rule{rule("pods", "patch"), rule("secrets", "get")}}},
			widens: true,
		},
		"names that are gone are all names": {
			before: []Role{role("a", limited(rule("pods", "get"), "x"))},
			after:  []Role{role("a", rule("pods", "get"))},
			want:   []Change{{Role: role("a"), Added: []Rule{rule("pods", "get")}}},
			widens: true,
		},
		"narrower": {
			before: []Role{role("a", rule("pods", "get"))},
			after:  []Role{role("a", limited(rule("pods", "get"), "x"))},
			want:   []Change{{Role: role("a"), Removed: []Rule{rule("pods", "get")}}},
		},
		"from one namespace to all": {
			before: []Role{{Name: "a", Namespace: "x", Rules: []Rule{rule("pods", "get")}}},
			after:  []Role{role("a", rule("pods", "get"))},
			want: []Change{{Role: role("a"), Added: []Rule{rule("pods", "get")}},
				{Role: Role{Name: "a", Namespace: "x"}, Removed: []Rule{rule("pods", "get")}}},
			widens: true,
		},
		"taken up by a role of the cluster": {
			before: []Role{role("a", rule("pods", "get"))},
			after:  []Role{{Name: "a", Rules: []Rule{rule("pods", "get")}, Labels: map[string]string{"aggregate-to-edit": "true"}}},
			want:   []Change{{Role: role("a"), Labelled: []string{"aggregate-to-edit: true"}}},
			widens: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Changes(c.before, c.after)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			widens := false
			for _, one := range got {
				widens = widens || one.Widens()
			}
			if widens != c.widens {
				t.Errorf("it widens: %v, wanted: %v", widens, c.widens)
			}
		})
	}
}
