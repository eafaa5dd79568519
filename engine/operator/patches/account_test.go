package patches

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/operator/testcluster"
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
	s.apply("person", `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: apps}
rules:
`+rules+`---
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
	for _, e := range s.events(mark) {
		as := "system:serviceaccount:" + s.namespace + ":apps"
		if (e.ObjectRef.Resource == "configmaps" && e.Verb != "watch" && e.Verb != "list" || e.ObjectRef.Resource == "secrets") &&
			e.ImpersonatedUser.Username != as {
			t.Errorf("%s %s %s was sent as %q", e.Verb, e.ObjectRef.Resource, e.ObjectRef.Name, e.ImpersonatedUser.Username)
		}
	}
}

// An entry is a line of the API server's audit log.
type entry struct {
	Verb                   string
	User, ImpersonatedUser struct{ Username string }
	ObjectRef              struct{ Resource, Namespace, Name string }
}

// events are what the operator sent about the namespace since mark, under
// whichever name.
func (s *site) events(mark int64) []entry {
	s.Helper()
	file, err := os.Open(filepath.Join(cluster.Dir, "audit.log"))
	if err != nil {
		s.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(mark, 0); err != nil {
		s.Fatal(err)
	}
	var all []entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && testcluster.IsOperator(e.User.Username) && e.ObjectRef.Namespace == s.namespace {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		s.Fatal("the audit log has nothing")
	}
	return all
}
