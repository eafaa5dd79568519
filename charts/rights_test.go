package main

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/rbac"
)

func loaded(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load([]string{".."})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRights: in every combination the account holds exactly what `jacquard
// rbac` says that these kinds need, where they need it.
func TestRights(t *testing.T) {
	t.Parallel()
	for name, values := range combinations(t) {
		t.Run(name, func(t *testing.T) {
			objects := rendered(t, values)
			want := map[string]bool{}
			if len(ofKind(objects, "ClusterRoleBinding")) > 0 {
				want = needed(t, objects, values)
			}
			if diff := cmp.Diff(want, held(t, objects)); diff != "" {
				t.Errorf("(-jacquard rbac +chart):\n%s", diff)
			}
		})
	}
}

// needed are the rights that the engine says an installation needs, each as
// one line.
func needed(t *testing.T, objects []*unstructured.Unstructured, values map[string]any) map[string]bool {
	t.Helper()
	var limits []string
	if namespaced, _, _ := unstructured.NestedBool(values, "rbac", "namespaced"); namespaced {
		limits, _, _ = unstructured.NestedStringSlice(values, "namespaces")
	}
	name, found, _ := unstructured.NestedString(values, "fullnameOverride")
	if !found {
		name = "jacquard"
	}
	roles := rbac.Base(rbac.Installation{
		Namespace: "jacquard", Namespaces: limits, SecureMetrics: reviews(values), Identity: "jacquard/" + name, Divides: true,
	})
	c := loaded(t)
	for _, o := range ofKind(objects, "ConfigMap") {
		k := c.Kinds[o.GetLabels()["jacquard.dev/kind"]]
		if k == nil {
			continue
		}
		of, err := rbac.Of(rbac.Input{CRD: k.CRD, Kind: k, Plural: c.Plural, Namespaces: limits})
		if err != nil {
			t.Fatal(err)
		}
		roles = append(roles, of...)
	}
	all := map[string]bool{}
	for _, r := range roles {
		if r.Holder == rbac.Operator {
			for _, rule := range r.Rules {
				put(all, r.Namespace, rbacv1.PolicyRule{APIGroups: []string{rule.Group}, Resources: []string{rule.Resource}, ResourceNames: rule.Names,
					Verbs: rule.Verbs})
			}
		}
	}
	return all
}

// reviews reports whether metrics are asked for by reviews.
func reviews(values map[string]any) bool {
	for _, field := range []string{"enabled", "secure"} {
		if on, found, _ := unstructured.NestedBool(values, "metrics", field); found && !on {
			return false
		}
	}
	return true
}

// put adds each right of a rule as a line: where, what, verb.
func put(all map[string]bool, where string, rule rbacv1.PolicyRule) {
	if where == "" {
		where = "*"
	}
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				for _, verb := range rule.Verbs {
					all[where+" "+path.Join(group, resource, name)+" "+verb] = true
				}
			}
		}
	}
}

// held are the rights that the objects give to the operator's account.
func held(t *testing.T, objects []*unstructured.Unstructured) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, o := range slices.Concat(ofKind(objects, "ClusterRoleBinding"), ofKind(objects, "RoleBinding")) {
		var binding rbacv1.RoleBinding
		into(t, o, &binding)
		for _, rule := range rules(t, objects, binding.RoleRef, o.GetNamespace()) {
			put(all, o.GetNamespace(), rule)
		}
	}
	return all
}

// rules are those of a role, and of those that it takes up.
func rules(t *testing.T, objects []*unstructured.Unstructured, ref rbacv1.RoleRef, namespace string) []rbacv1.PolicyRule {
	t.Helper()
	var all []rbacv1.PolicyRule
	found := false
	for _, o := range ofKind(objects, ref.Kind) {
		if o.GetName() != ref.Name || ref.Kind == "Role" && o.GetNamespace() != namespace {
			continue
		}
		found = true
		var role rbacv1.ClusterRole
		into(t, o, &role)
		all = append(all, role.Rules...)
		if role.AggregationRule == nil {
			continue
		}
		for _, part := range ofKind(objects, "ClusterRole") {
			if role.AggregationRule.ClusterRoleSelectors[0].MatchLabels["jacquard.dev/aggregate-to"] == part.GetLabels()["jacquard.dev/aggregate-to"] {
				var taken rbacv1.ClusterRole
				into(t, part, &taken)
				all = append(all, taken.Rules...)
			}
		}
	}
	if !found {
		t.Errorf("%s %s is bound, and is not there", ref.Kind, ref.Name)
	}
	return all
}

func into(t *testing.T, o *unstructured.Unstructured, typed any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
		t.Fatalf("%s: %v", title(o), err)
	}
}

// TestNoWildcards: no role of any combination has a wildcard, and no role is
// bound that is not the release's own.
func TestNoWildcards(t *testing.T) {
	t.Parallel()
	n := 0
	for name, values := range combinations(t) {
		objects := rendered(t, values)
		for _, o := range slices.Concat(ofKind(objects, "ClusterRole"), ofKind(objects, "Role")) {
			var role rbacv1.ClusterRole
			into(t, o, &role)
			for _, r := range role.Rules {
				n++
				if strings.Contains(strings.Join(slices.Concat(r.APIGroups, r.Resources, r.ResourceNames, r.Verbs, r.NonResourceURLs), " "), "*") {
					t.Errorf("%s: %s: has a wildcard: %v", name, title(o), r)
				}
			}
		}
		held(t, objects) // says which bound role is not there
	}
	if n == 0 {
		t.Error("there are no rules: this test looks in the wrong place")
	}
}

// TestNothingButBase: without kinds the operator holds what it needs to look for
// some, and no more.
func TestNothingButBase(t *testing.T) {
	t.Parallel()
	holds := map[string]bool{}
	for line := range held(t, rendered(t, values(t, "kinds: {enabled: []}"))) {
		holds[strings.Fields(line)[1]] = true
	}
	for _, may := range []string{
		"apiextensions.k8s.io/customresourcedefinitions", "apiregistration.k8s.io/apiservices", "apps/controllerrevisions", "configmaps", "events", "events.k8s.io/events",
		"coordination.k8s.io/leases", "coordination.k8s.io/leases/jacquard.jacquard.dev", "coordination.k8s.io/leases/jacquard-report",
		"authentication.k8s.io/tokenreviews", "authorization.k8s.io/subjectaccessreviews",
	} {
		delete(holds, may)
	}
	if len(holds) > 0 {
		t.Errorf("it may also touch %v", slices.Sorted(maps.Keys(holds)))
	}
}
