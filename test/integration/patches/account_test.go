package patches

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// byAccount is a folder that acts as the account apps of the resource's
// namespace.
var byAccount = map[string]string{
	"kind.yaml": "serviceAccountName: apps\n",
	"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  k: {{ (lookup "v1" "Secret" "" "s").metadata.name | default "none" | quote }}
`,
	"patch.yaml": patchMap,
}

// let gives the account apps of a site a role with these rules.
func (s *site) let(rules string) {
	s.Helper()
	told, tells := s.telltale()
	s.apply("person", `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: apps}
rules:
`+rules+told+`---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: apps}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: apps}
subjects: [{kind: ServiceAccount, name: apps, namespace: `+s.namespace+`}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: apps}
`)
	tells.Namespace = s.namespace
	cluster.Allowed(s, "system:serviceaccount:"+s.namespace+":apps", tells)
}

var telltales atomic.Int64

// telltale is one more rule for a role, and what is allowed by it alone: once
// it is, the API server has taken up the role as it is now, and does not allow
// any more what it allowed before.
func (s *site) telltale() (rule string, tells authorizationv1.ResourceAttributes) {
	name := fmt.Sprint("role-", telltales.Add(1))
	return fmt.Sprintf("- {apiGroups: [GROUP], resources: [telltales], resourceNames: [%s], verbs: [get]}\n", name),
		authorizationv1.ResourceAttributes{Verb: "get", Group: s.group, Resource: "telltales", Name: name}
}

// TestAccount: children are written, objects patched and reads made as the
// account; what it lacks is said with the rule, and heals by itself.
func TestAccount(t *testing.T) {
	t.Parallel()
	s := build(t, byAccount)
	s.apply("person", "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n"+theirs("m", "p: q"))
	finalizers := "- {apiGroups: [" + s.group + "], resources: [webs/finalizers], verbs: [update]}\n"
	write := "- {apiGroups: [\"\"], resources: [configmaps], verbs: [create, patch, delete]}\n"
	read := "- {apiGroups: [\"\"], resources: [secrets, configmaps], verbs: [get, list, watch]}\n"
	s.let(finalizers)
	mark := cluster.Mark(t)
	s.web("r", "map: m, data: {a: ours}")
	s.is("r", "Ready", "False", `resources: ["secrets"]`)
	s.is("r", "Ready", "False", `verbs: ["list"`)
	s.let(finalizers + read)
	s.is("r", "Ready", "False", "system:serviceaccount:"+s.namespace+":apps")
	s.is("r", "Ready", "False", `cannot patch resource "configmaps"`)
	s.let(finalizers + read + write)
	s.ready("r")
	s.has("v1", "ConfigMap", "r", "data.k", "s")
	s.has("v1", "ConfigMap", "m", "data.a", "ours")
	s.let(finalizers + read)
	s.web("r", "map: m, data: {a: two}")
	s.is("r", "Ready", "False", `cannot patch resource "configmaps"`)
	s.let(finalizers + read + write)
	s.has("v1", "ConfigMap", "m", "data.a", "two")
	s.delete(s.apiVersion(), "Web", "r")
	s.gone(s.apiVersion(), "Web", "r")
	s.unpatched("v1", "ConfigMap", "m")
	s.sentAs(mark, "system:serviceaccount:"+s.namespace+":apps")
}

// sentAs checks that all the operator did with ConfigMaps and Secrets of the
// namespace since mark, but for its watch of the children, it did as an account.
func (s *site) sentAs(mark int64, account string) {
	s.Helper()
	all := slices.DeleteFunc(cluster.AllRequests(s, mark), func(r kit.Request) bool { return r.Namespace != s.namespace })
	if len(all) == 0 {
		s.Fatal("the audit log has nothing")
	}
	for _, r := range all {
		if (r.Resource == "configmaps" && r.Verb != "watch" && r.Verb != "list" || r.Resource == "secrets") && r.As != account {
			s.Errorf("%s was sent as %q", r, r.As)
		}
	}
}
