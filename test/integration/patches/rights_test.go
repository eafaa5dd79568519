package patches

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// basic is what an operator needs whatever its folders make.
const basic = `
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [get, list, watch, patch]}
- {apiGroups: [events.k8s.io, ""], resources: [events], verbs: [create, patch]}
- {apiGroups: [GROUP], resources: [webs, webs/status], verbs: [get, list, watch, patch]}
- {apiGroups: [GROUP], resources: [webs/finalizers], verbs: [update]}
`

// grant writes the role that a site's limited operator has: rules as a list.
func (s *site) grant(rules string) {
	s.Helper()
	told, tells := s.telltale()
	s.apply("person", strings.NewReplacer("NAME", "limited-"+s.group, "RULES", basic+rules+told, "USER",
		limited).Replace(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules:RULES
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: USER}]
`))
	cluster.Allowed(s, limited, tells)
}

// buildLimited is build with an operator that has only these rights. Roles add
// up, since all sites have the same user: a test takes and gives rights to
// kinds that no other test has.
func buildLimited(t *testing.T, rules string, files map[string]string) *site {
	t.Helper()
	s := lay(t, files)
	for kind, scope := range map[string]string{"Web": "Namespaced", "Thing": "Namespaced", "ClusterThing": "Cluster"} {
		cluster.Apply(t, "", kindOf(kind, s.group, scope))
		cluster.Served(t, s.apiVersion(), kind)
	}
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(cluster.Dir, "limited.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	s.config = config
	s.grant(rules)
	s.start()
	return s
}

// rights returns a rule with rights to one kind.
func rights(resource, verbs string) string {
	return fmt.Sprintf("- {apiGroups: [GROUP], resources: [%s], verbs: [%s]}\n", resource, verbs)
}

const (
	rightsToMaps = "- {apiGroups: [\"\"], resources: [configmaps], verbs: [get, list, watch, create, patch, delete]}\n"
	allVerbs     = "get, list, watch, create, patch, delete"
)

var thingAndMap = map[string]string{
	"thing.yaml": "apiVersion: GROUP/v1\nkind: Thing\nmetadata:\n  name: {{ .metadata.name }}\nspec:\n  k: {{ .spec.k }}\n",
	"map.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  k: {{ .spec.k }}\n",
}

// TestRightToWrite: the right to write one kind of child is taken away. What
// else the resource has is applied, the condition names the missing rule, and
// it heals without a restart. A kind without such children never notices.
func TestRightToWrite(t *testing.T) {
	t.Parallel()
	s := buildLimited(t, rightsToMaps+rights("things", allVerbs), thingAndMap)
	well := s.beside()
	s.web("r", "k: one")
	s.ready("r")
	s.grant(rightsToMaps + rights("things", "get, list, watch"))
	s.web("r", "k: two")
	s.is("r", "Ready", "False", "things")
	s.is("r", "Ready", "False", `cannot patch resource "things" in API group "`+s.group+`"`)
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	s.has(s.apiVersion(), "Thing", "r", "spec.k", "one")
	well("one")
	s.grant(rightsToMaps + rights("things", allVerbs))
	s.has(s.apiVersion(), "Thing", "r", "spec.k", "two")
	s.ready("r")
	s.rests(s.apiVersion() + " Thing")
}

// TestRightToRead: the same with the right to read, also while a restarted
// operator never had it: nothing is taken for gone.
func TestRightToRead(t *testing.T) {
	t.Parallel()
	s := buildLimited(t, rightsToMaps+rights("things", allVerbs), thingAndMap)
	well := s.beside()
	s.web("r", "k: one")
	s.ready("r")
	uid := s.get(s.apiVersion(), "Thing", "r").GetUID()
	s.operator.Stop(t)
	s.grant(rightsToMaps + rights("things", "create, patch, delete"))
	s.start()
	s.web("r", "k: two")
	s.is("r", "Ready", "False", `resources: ["things"]`)
	s.is("r", "Ready", "False", `verbs: ["list"`)
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	well("one")
	s.web("other", "k: one")
	s.is("other", "Ready", "False", `resources: ["things"]`)
	s.grant(rightsToMaps + rights("things", allVerbs))
	s.has(s.apiVersion(), "Thing", "r", "spec.k", "two")
	s.ready("r")
	s.ready("other")
	if s.get(s.apiVersion(), "Thing", "r").GetUID() != uid {
		t.Error("the child was recreated")
	}
	s.rests(s.apiVersion() + " Thing")
}

// TestRightToReadWhatIsRead: the right to what templates look up.
func TestRightToReadWhatIsRead(t *testing.T) {
	t.Parallel()
	s := buildLimited(t, rightsToMaps, map[string]string{"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  k: {{ (lookup "GROUP/v1" "Thing" "" "t").spec.k | default "none" | quote }}
`})
	well := s.beside()
	s.apply("person", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: t}, spec: {k: one}}")
	s.web("r", "")
	s.is("r", "Reconciling", "True", `resources: ["things"]`)
	s.is("r", "Reconciling", "True", `verbs: ["list"`)
	well("one")
	if err := cluster.Gone("v1", "ConfigMap", s.namespace, "r"); err != nil {
		t.Error(err)
	}
	s.grant(rightsToMaps + rights("things", "get, list, watch"))
	s.has("v1", "ConfigMap", "r", "data.k", "one")
	s.ready("r")
	s.apply("person", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: t}, spec: {k: two}}")
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	s.grant(rightsToMaps)
	s.operator.Stop(t)
	s.start()
	s.is("r", "Ready", "False", `resources: ["things"]`)
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	well("two")
}

// TestRightToPatch: the right to patch what others have.
func TestRightToPatch(t *testing.T) {
	t.Parallel()
	s := buildLimited(t, rights("things", "get, list, watch"), map[string]string{"thing.yaml": `apiVersion: GROUP/v1
kind: Thing
metadata:
  name: {{ .spec.thing }}
  annotations:
    jacquard.dev/ownership: patch
spec:
  seen: {{ .metadata.name }}
`})
	well := s.beside()
	s.apply("person", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: t}, spec: {theirs: x}}")
	s.web("r", "thing: t")
	s.is("r", "Ready", "False", `cannot patch resource "things"`)
	well("one")
	s.grant(rights("things", "get, list, watch, patch"))
	s.ready("r")
	s.grant(rights("things", "get, list, watch"))
	s.delete(s.apiVersion(), "Web", "r")
	s.is("r", "Ready", "False", `cannot patch resource "things"`) // it is held, and says so
	s.has(s.apiVersion(), "Thing", "t", "spec.seen", "r")
	s.grant(rights("things", "get, list, watch, patch"))
	s.gone(s.apiVersion(), "Web", "r")
	s.has(s.apiVersion(), "Thing", "t", "spec", map[string]any{"theirs": "x"})
}

// beside adds a second kind, that makes a ConfigMap and reads nothing, to the
// site's root before the operator starts, and tells whether it is served well.
func (s *site) beside() func(k string) {
	s.Helper()
	group := "beside." + s.group
	s.operator.Stop(s)
	kit.Write(s, s.root, map[string]string{
		"templates/webs." + group +
			"/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\ndata:\n  k: {{ .spec.k }}\n",
	})
	cluster.Apply(s, "", kindOf("Web", group, "Namespaced"))
	cluster.Served(s, group+"/v1", "Web")
	s.apply("person", strings.NewReplacer("NAME", "limited-"+group, "GROUP", group, "USER",
		limited).Replace(`apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules:
- {apiGroups: [GROUP], resources: [webs, webs/status], verbs: [get, list, watch, patch]}
- {apiGroups: [GROUP], resources: [webs/finalizers], verbs: [update]}
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, patch, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: USER}]
`))
	s.start()
	return func(k string) {
		s.Helper()
		s.apply("person", fmt.Sprintf("{apiVersion: %s/v1, kind: Web, metadata: {name: well-%s}, spec: {k: %s}}", group, k, k))
		kit.Eventually(s, "the healthy kind is served", func() error { return cluster.Ready(group+"/v1", "Web", s.namespace, "well-"+k) })
		s.has("v1", "ConfigMap", "well-"+k, "data.k", k)
	}
}
