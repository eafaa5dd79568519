package rbac

import (
	"maps"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Holder is who has a role.
type Holder int

const (
	// Operator is the operator's own account.
	Operator Holder = iota
	// Account is the service account of the resource's namespace that kind.yaml
	// names.
	Account
	// Users are people: they get the role from the cluster's own roles view,
	// edit and admin, or by bindings of their admin.
	Users
)

// A Role is a Role or ClusterRole, who has it, and what for.
type Role struct {
	Name string
	// Namespace is where it is valid; "" means a ClusterRole.
	Namespace string
	// Own: it is a ClusterRole that is bound in the namespaces of resources, or in
	// the whole cluster if these are all.
	Own    bool
	Holder Holder
	// Account is the service account's name where Holder is Account.
	Account string
	// About says in a sentence what the role is.
	About  string
	Labels map[string]string
	Rules  []Rule
}

// Allows reports whether the role allows a request.
func (r Role) Allows(q Request) bool {
	return (r.Namespace == "" || r.Namespace == q.Namespace) &&
		slices.ContainsFunc(r.Rules, func(rule Rule) bool { return rule.Allows(q) })
}

// A need is a rule and where it is needed.
type need struct {
	Rule
	holder Holder
	// namespace is where; "" is the whole cluster, own the namespaces of
	// resources.
	namespace string
}

// own stands for the namespaces that resources of a kind are in.
const own = "*"

// A shape is what the roles of one installation look like.
type shape struct {
	name, about, account string
	// namespaces are those that the operator is limited to; none means all.
	namespaces []string
	// into is the ClusterRole that takes up those of the operator, or "".
	into string
}

// makeRoles makes roles of needs, for the operator and for the account.
func (s shape) makeRoles(needs []need) []Role {
	type at struct {
		holder    Holder
		namespace string
	}
	all := map[at][]Rule{}
	for _, n := range needs {
		for _, namespace := range s.namespacesFor(n) {
			key := at{n.holder, namespace}
			all[key] = append(all[key], n.Rule)
		}
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b at) int {
		if a.holder != b.holder {
			return int(a.holder - b.holder)
		}
		return strings.Compare(a.namespace, b.namespace)
	})
	var roles []Role
	for _, key := range keys {
		role := s.newRole(key.holder, key.namespace)
		role.Rules = joinRules(all[key])
		if key.namespace != "" { // what is allowed everywhere need not be allowed there
			role.Rules = dropCovered(role.Rules, joinRules(all[at{key.holder, ""}]))
		}
		if len(role.Rules) > 0 {
			roles = append(roles, role)
		}
	}
	return roles
}

// newRole returns a role without rules.
func (s shape) newRole(holder Holder, namespace string) Role {
	r := Role{Name: s.name, Namespace: namespace, Holder: holder, About: s.about}
	switch {
	case holder == Account:
	case s.into == "" || namespace != own && namespace != "":
		return r
	default:
		return s.aggregateRole(r)
	}
	r.Name, r.Account = s.name+":"+s.account, s.account
	if slices.Contains([]string{userView, userEdit, userAdmin, "cluster"}, s.account) { // these names are those of the people's roles
		r.Name = s.name + ":account:" + s.account
	}
	r.About = "What the service account " + s.account + " needs in every namespace with resources: bind it there."
	switch namespace {
	case own:
		r.Namespace, r.Own = "", true
	case "":
		r.Name += ":cluster"
		r.About = "What the service account " + s.account + " of every namespace with resources needs in the whole cluster."
	default:
		r.About = "What the service account " + s.account + " of every namespace with resources needs in namespace " + namespace + "."
	}
	return r
}

// aggregateRole returns a role of the operator that another ClusterRole takes up by its label.
func (s shape) aggregateRole(r Role) Role {
	into := s.into
	switch r.Namespace {
	case own:
		r.Namespace, r.Own = "", true
		r.About += " In the namespaces of resources."
	default:
		r.Name, into = r.Name+":cluster", wholeCluster(into)
		r.About += " In the whole cluster."
	}
	r.Labels = map[string]string{api.LabelAggregateTo: into}
	return r
}

// wholeCluster is the ClusterRole that takes up what is needed in the whole
// cluster, beside the one that takes up what is needed where resources are.
func wholeCluster(into string) string { return into + "-cluster" }

// namespacesFor returns the namespaces of the roles that a need goes to.
func (s shape) namespacesFor(n need) []string {
	switch {
	case n.namespace != own || n.holder == Account || s.into != "":
		return []string{n.namespace}
	case len(s.namespaces) == 0:
		return []string{""}
	}
	return s.namespaces
}

// dropCovered returns the rules without what others allow.
func dropCovered(rules, others []Rule) []Rule {
	var left []Rule
	for _, r := range rules {
		r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool {
			return slices.ContainsFunc(others, func(o Rule) bool { return o.coversObjects(r) && slices.Contains(o.Verbs, verb) })
		})
		if len(r.Verbs) > 0 {
			left = append(left, r)
		}
	}
	return left
}
