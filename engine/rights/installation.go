package rights

import (
	"slices"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// An Installation is how an operator is installed.
type Installation struct {
	// Namespace is the operator's own; "" if it has none, and so neither a Lease
	// nor folders in ConfigMaps.
	Namespace string
	// Namespaces are those that the operator is limited to; none means all.
	Namespaces []string
}

// Lease is the name of the Lease by which one operator works at a time.
const Lease = "jacquard.jacquard.dev"

// Base makes the roles that every operator has, whatever its kinds.
func Base(in Installation) []Role {
	s := shape{name: "jacquard", about: "What the operator needs whatever kinds it serves.", namespaces: in.Namespaces}
	rule := func(group, resource, why string, verbs ...string) Rule {
		return Rule{Group: group, Resource: resource, Verbs: verbs, Why: []string{why}}
	}
	needs := []need{
		{rule("apiextensions.k8s.io", "customresourcedefinitions", "which kinds there are, and their records", "list", "watch"), Operator, ""},
		{rule("apiregistration.k8s.io", "apiservices", "aggregated APIs come and go", "list", "watch"), Operator, ""},
	}
	if in.Namespace != "" {
		lease := rule("coordination.k8s.io", "leases", "the Lease of the leader", "get", "update")
		lease.Names = []string{Lease}
		needs = append(needs,
			need{rule("coordination.k8s.io", "leases", "the Lease of the leader, before there is one", "create"), Operator, in.Namespace},
			need{lease, Operator, in.Namespace},
			need{rule("", "events", "who became the leader is told by an event", "create"), Operator, in.Namespace},
			need{rule("", "configmaps", "folders in ConfigMaps with the label "+api.LabelKind, "list", "watch"), Operator, in.Namespace})
	}
	for _, namespace := range eventful(in) {
		needs = append(needs, need{rule("events.k8s.io", "events", "what happens is told by events", "create", "patch"), Operator, namespace})
	}
	return s.roles(needs)
}

// eventful are the namespaces that events are in: those of resources, and the
// one that events about CRDs are in.
func eventful(in Installation) []string {
	if len(in.Namespaces) == 0 {
		return []string{""}
	}
	all := append([]string{"default"}, in.Namespaces...)
	slices.Sort(all)
	return slices.Compact(all)
}
