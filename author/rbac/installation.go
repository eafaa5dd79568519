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
		return s.roles(slices.Concat(in.watched(), in.metrics(), in.home(), in.events()))
	}
	return in.apart(s)
}

// apart are the roles of an installation whose ClusterRole takes up others:
// each may be bound, or not, by itself.
func (in Installation) apart(s shape) []Role {
	s.name = in.Into + "-base"
	roles := s.roles(slices.Concat(in.watched(), in.home()))
	s.name, s.about = in.Into+"-metrics", "What the operator needs to ask who may read its metrics."
	roles = append(roles, s.roles(in.metrics())...)
	s.name, s.about, s.into = in.Into+":events", "What the operator needs to tell what happens, whatever kinds it serves.", in.Into
	roles = append(roles, s.roles([]need{event(own)})...)
	s.name, s.about = in.Into+"-events", "What an operator that is limited to some namespaces needs to tell what happens to CRDs."
	return append(roles, s.roles([]need{event("default")})...)
}

func baseRule(group, resource, why string, verbs ...string) Rule {
	return Rule{Group: group, Resource: resource, Verbs: verbs, Why: []string{why}}
}

// watched are the needs about which kinds there are.
func (Installation) watched() []need {
	return []need{
		{baseRule("apiextensions.k8s.io", "customresourcedefinitions", "which kinds there are, and their records", "list", "watch"), Operator,
			""},
		{baseRule("apiregistration.k8s.io", "apiservices", "aggregated APIs come and go", "list", "watch"), Operator, ""},
	}
}

// metrics are the needs of metrics that not everybody may read.
func (in Installation) metrics() []need {
	if !in.SecureMetrics {
		return nil
	}
	return []need{
		{baseRule("authentication.k8s.io", "tokenreviews", "who reads the metrics", "create"), Operator, ""},
		{baseRule("authorization.k8s.io", "subjectaccessreviews", "whether they may", "create"), Operator, ""},
	}
}

// home are the needs in the operator's own namespace.
func (in Installation) home() []need {
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

// events are the needs in the namespaces that events are in: those of
// resources, and the one that events about CRDs are in.
func (in Installation) events() []need {
	if len(in.Namespaces) == 0 {
		return []need{event("")}
	}
	all := append([]string{"default"}, in.Namespaces...)
	slices.Sort(all)
	var needs []need
	for _, namespace := range slices.Compact(all) {
		needs = append(needs, event(namespace))
	}
	return needs
}

func event(namespace string) need {
	return need{baseRule("events.k8s.io", "events", "what happens is told by events", "create", "patch"), Operator, namespace}
}
