package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A role is a ClusterRole or Role.
type role struct {
	Metadata struct{ Name string }
	Rules    []struct{ APIGroups, Resources, ResourceNames, Verbs []string }
}

// A right is one verb on one resource.
type right struct{ verb, group, resource, name string }

func (r right) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s of %s.%s %s", r.verb, r.resource, r.group, r.name))
}

// An exception is a right of which the audit log tells nothing here, and why.
type exception struct {
	is  func(right) bool
	why string
}

// unasked are all of them. That these rights are needed too is what
// test/integration/rights proves of the very same roles, for each kind.
var unasked = []exception{
	{func(r right) bool { return r.verb == "list" },
		"this API server streams lists through watches; others are asked for lists"},
	{func(r right) bool { return r.verb == "update" && strings.HasSuffix(r.resource, "/finalizers") },
		"admission asks for it when a child with an owner is made, and no request tells"},
	{func(r right) bool { return r == right{"get", "", "pods", ""} },
		"the PrometheusJmxExporter has all Pods watched, so it is known whose one is that a Milvus finds in its place"},
	{func(r right) bool { return r == right{"patch", "events.k8s.io", "events", ""} },
		"an event is patched when it comes again about an object that did not change, as where a kind has no status"},
	{func(r right) bool { return r == right{"delete", "apps", "controllerrevisions", ""} },
		"a revision is deleted once there are more than ten that nothing needs"},
}

// needed: of every right of the operator's roles something made use, but for
// those that are known to be unasked.
func needed(t *testing.T, n *realNode) {
	held := n.rights(t)
	used := map[right]bool{}
	for _, q := range n.requests(t, account) {
		o := q.ObjectRef
		r := right{q.Verb, o.APIGroup, o.Resource, o.Name}
		if o.Subresource != "" {
			r.resource += "/" + o.Subresource
		}
		if q.ResponseStatus.Code == 403 {
			continue
		}
		used[r] = true
		if q.Verb == "patch" && q.ResponseStatus.Code == 201 { // server-side apply asks for both
			used[right{"create", r.group, r.resource, r.name}] = true
		}
	}
	for r := range used {
		used[right{r.verb, r.group, r.resource, ""}] = true
	}
	found := make([]bool, len(unasked))
	for _, r := range held {
		i := slices.IndexFunc(unasked, func(e exception) bool { return e.is(r) })
		if i >= 0 {
			found[i] = true
		} else if !used[r] {
			t.Errorf("nothing has used the right to %s", r)
		}
	}
	for i, e := range unasked {
		if !found[i] {
			t.Errorf("no role holds what is said to be unasked since %s", e.why)
		}
	}
}

// rights are those of the operator's own roles and of the shipped kinds'.
func (n *realNode) rights(t *testing.T) []right {
	t.Helper()
	names := []string{"jacquard-base", "jacquard-metrics", "jacquard:events"}
	for _, kind := range everyKind {
		names = append(names, "jacquard:"+kind, "jacquard:"+kind+":cluster")
	}
	var list struct{ Items []role }
	if err := n.get(&list, "clusterroles,roles", "--all-namespaces"); err != nil {
		t.Fatal(err)
	}
	held, seen := map[right]bool{}, map[string]bool{}
	for _, role := range list.Items {
		if !slices.Contains(names, role.Metadata.Name) {
			continue
		}
		seen[role.Metadata.Name] = true
		for _, rule := range role.Rules {
			if len(rule.ResourceNames) == 0 {
				rule.ResourceNames = []string{""}
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, name := range rule.ResourceNames {
						for _, verb := range rule.Verbs {
							held[right{verb, group, resource, name}] = true
						}
					}
				}
			}
		}
	}
	if len(seen) != len(names) {
		t.Errorf("of the roles %v only %v are there", names, seen)
	}
	var all []right
	for r := range held {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b right) int { return strings.Compare(a.String(), b.String()) })
	return all
}
