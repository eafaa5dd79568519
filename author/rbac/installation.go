package rbac

import (
	"cmp"
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
	// Into is the ClusterRole that is to take up the operator's roles: see Input.
	// What is not taken up is bound by itself.
	Into string
	// SecureMetrics: whoever gets the metrics is asked for a token, which the API
	// server judges.
	SecureMetrics bool
	// Identity is the installation's name; default NAMESPACE/jacquard.
	Identity string
	// Divides: its replicas divide the resources among them, and have a Lease each.
	Divides bool
}

// Base makes the roles that every operator has, whatever its kinds.
func Base(in Installation) []Role {
	s := shape{name: "jacquard", about: "What the operator needs whatever kinds it serves.", namespaces: in.Namespaces}
	if in.Into == "" {
		return s.makeRoles(slices.Concat(in.watchNeeds(), in.metricsNeeds(), in.homeNeeds(), in.eventNeeds()))
	}
	return in.separateRoles(s)
}

// separateRoles returns the roles of an installation whose ClusterRole takes up others. Each of
// them may be bound, or not, by itself.
func (in Installation) separateRoles(s shape) []Role {
	s.name = in.Into + "-base"
	roles := s.makeRoles(slices.Concat(in.watchNeeds(), in.homeNeeds()))
	s.name, s.about = in.Into+"-metrics", "What the operator needs to ask who may read its metrics."
	roles = append(roles, s.makeRoles(in.metricsNeeds())...)
	s.name, s.about, s.into = in.Into+":events", "What the operator needs to tell what happens, whatever kinds it serves.", in.Into
	roles = append(roles, s.makeRoles([]need{newEventNeed(own)})...)
	s.name, s.about = in.Into+"-events", "What an operator that is limited to some namespaces needs to tell what happens to CRDs."
	return append(roles, s.makeRoles([]need{newEventNeed("default")})...)
}

func baseRule(group, resource, why string, verbs ...string) Rule {
	return Rule{Group: group, Resource: resource, Verbs: verbs, Why: []string{why}}
}

// watchNeeds returns the needs to watch which kinds there are.
func (Installation) watchNeeds() []need {
	return []need{
		{baseRule("apiextensions.k8s.io", "customresourcedefinitions", "which kinds there are, and their records", "list", "watch"), Operator,
			""},
		{baseRule("apiregistration.k8s.io", "apiservices", "aggregated APIs come and go", "list", "watch"), Operator, ""},
	}
}

// metricsNeeds returns the needs of metrics that not everybody may read.
func (in Installation) metricsNeeds() []need {
	if !in.SecureMetrics {
		return nil
	}
	return []need{
		{baseRule("authentication.k8s.io", "tokenreviews", "who reads the metrics", "create"), Operator, ""},
		{baseRule("authorization.k8s.io", "subjectaccessreviews", "whether they may", "create"), Operator, ""},
	}
}

// homeNeeds returns the needs in the operator's own namespace.
func (in Installation) homeNeeds() []need {
	if in.Namespace == "" {
		return nil
	}
	leases := func(name, why string, verbs ...string) need {
		r := baseRule("coordination.k8s.io", "leases", why, verbs...)
		if name != "" {
			r.Names = []string{name}
		}
		return need{r, Operator, in.Namespace}
	}
	elects := []need{
		leases("", "the Lease of the leader, before there is one", "create"),
		leases(api.Lease(cmp.Or(in.Identity, "jacquard")), "the Lease of the leader", "get", "update"),
	}
	if in.Divides {
		elects = []need{leases("", "the Leases of replicas, whose names are not fixed", "get", "list", "watch", "create", "update", "delete")}
	}
	return append(elects,
		leases(api.ReportLease(cmp.Or(in.Identity, "jacquard")), "the operator's report", "get", "patch"),
		need{baseRule("apps", "controllerrevisions", "revisions of folders", "list", "create", "patch", "delete"), Operator, in.Namespace},
		need{baseRule("", "configmaps", "folders in ConfigMaps with the label "+api.LabelKind, "list", "watch"), Operator, in.Namespace})
}

// eventNeeds returns the needs in the namespaces that events are in: those of resources, and the
// one that events about CRDs are in.
func (in Installation) eventNeeds() []need {
	if len(in.Namespaces) == 0 {
		return []need{newEventNeed("")}
	}
	all := append([]string{"default"}, in.Namespaces...)
	slices.Sort(all)
	var needs []need
	for _, namespace := range slices.Compact(all) {
		needs = append(needs, newEventNeed(namespace))
	}
	return needs
}

// newEventNeed returns the need to write events in a namespace.
func newEventNeed(namespace string) need {
	return need{baseRule("events.k8s.io", "events", "what happens is told by events", "create", "patch"), Operator, namespace}
}
