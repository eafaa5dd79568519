package rights

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// of makes the roles of the site's kind as `jacquard rbac` does.
func (s *site) of(namespaces ...string) []rbac.Role {
	s.Helper()
	kinds, err := catalog.Load([]string{s.root})
	if err != nil {
		s.Fatal(err)
	}
	k := kinds.Kinds[s.name()]
	if k == nil {
		s.Fatal(kinds.Faults())
	}
	roles, err := rbac.Of(rbac.Input{CRD: k.CRD, Kind: k, Plural: kinds.Plural, Namespaces: namespaces})
	if err != nil {
		s.Fatal(err)
	}
	return roles
}

// TestAccount: an account of the resource's namespace writes and reads; the
// operator impersonates it, and has no right to write by itself. The roles and
// bindings of the account are those that are printed.
func TestAccount(t *testing.T) {
	t.Parallel()
	s := lay(t, "Namespaced", map[string]string{
		"kind.yaml": "serviceAccountName: weaver\nallowEmpty: true\n",
		"map.yaml": document("v1", "ConfigMap", "",
			"data: {account: {{ (lookup \"v1\" \"ServiceAccount\" \"\" \"weaver\").metadata.name | default \"none\" | quote }}}\n"),
		"patch.yaml": strings.Replace(everything["patch.yaml"], "kind: Endpoints", "kind: PodTemplate", 1),
	})
	s.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: weaver}}\n---\n" +
		"{apiVersion: v1, kind: PodTemplate, metadata: {name: theirs}, template: {spec: {containers: [{name: c, image: i}]}}}")
	account := slices.DeleteFunc(s.of(), func(r rbac.Role) bool { return r.Holder != rbac.Account })
	var text bytes.Buffer
	if err := rbac.Write(&text, account, rbac.Binding{Namespaces: []string{s.namespace}}); err != nil {
		t.Fatal(err)
	}
	s.apply(text.String())
	s.start()
	roles := s.operator.Access.Roles(t)
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: taken}}")
	s.web("r", "all: true, patch: theirs")
	s.is("r", "Ready", "True", "")
	s.web("taken", "all: true")
	s.is("taken", "Stalled", "True", "left alone")
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "r")
	kit.Eventually(t, "it is recreated", func() error { _, err := cluster.Get("v1", "ConfigMap", s.namespace, "r"); return err })
	s.web("r", "all: false")
	s.gone("v1", "ConfigMap", "r")
	cluster.Delete(t, s.group+"/v1", "Web", s.namespace, "r")
	s.gone("GROUP/v1", "Web", "r")
	s.operator.Stop(t)
	own := func(r rbac.Role) bool { return r.Name != "jacquard" }
	proven(t, s.name(), roles, own, s.sent)
	proven(t, s.name(), account, all, s.sentAsAccount)
	t.Logf("each of %d and %d verbs is needed", verbs(roles), verbs(account))
}

// sentAsAccount is what the site's operator sent for another account, as if that
// had sent it.
func (s *site) sentAsAccount() []kit.Request {
	s.Helper()
	var all []kit.Request
	for _, q := range s.sent() {
		if q.As != "" {
			q.As = ""
			all = append(all, q)
		}
	}
	return all
}

// TestClusterScoped: a cluster-scoped kind makes what it may in the namespaces
// that kind.yaml lists, and has the right to write in no other.
func TestClusterScoped(t *testing.T) {
	t.Parallel()
	s := lay(t, "Cluster", map[string]string{
		"kind.yaml": "children:\n- {apiVersion: v1, kind: ConfigMap, namespaces: [NS]}\nallowEmpty: true\n",
		"map.yaml":  document("v1", "ConfigMap", "", "  namespace: NS\n"),
	})
	s.start()
	roles := s.operator.Access.Roles(t)
	name := s.namespace
	s.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "-taken}}")
	s.cluster(name, "all: true")
	kit.Eventually(t, "it is ready", func() error { return cluster.Ready(s.group+"/v1", "Web", "", name) })
	s.cluster(name+"-taken", "all: true")
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, name)
	kit.Eventually(t, "it is recreated", func() error { _, err := cluster.Get("v1", "ConfigMap", s.namespace, name); return err })
	s.cluster(name, "all: false")
	s.gone("v1", "ConfigMap", name)
	own := func(r rbac.Role) bool { return r.Name != "jacquard" }
	kit.Eventually(t, "every verb is needed", func() error { return proof(s.name(), unwatched(roles), own, s.sent()) })
	s.operator.Stop(t)
	proven(t, s.name(), roles, own, s.sent)
}

// cluster applies a cluster-scoped resource with this spec.
func (s *site) cluster(name, spec string) {
	s.Helper()
	for _, o := range kit.Parse(s, s.fill("{apiVersion: GROUP/v1, kind: Web, metadata: {name: "+name+"}, spec: {"+spec+"}}")) {
		if err := cluster.Client.Apply(s.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("person"),
			client.ForceOwnership); err != nil {
			s.Fatal(err)
		}
	}
}

// TestLimited: an operator that is limited to a namespace needs Roles there, and
// serves nothing elsewhere.
func TestLimited(t *testing.T) {
	t.Parallel()
	s := lay(t, "Namespaced", map[string]string{
		"map.yaml": document("v1", "ConfigMap", "",
			"data: {account: {{ (lookup \"v1\" \"ServiceAccount\" \"\" \"default\").metadata.name | quote }}}\n"),
	})
	s.limits = []string{s.namespace}
	s.start()
	roles := s.operator.Access.Roles(t)
	for _, r := range roles {
		for _, rule := range r.Rules {
			if r.Namespace == "" && rule.Group != "apiextensions.k8s.io" && rule.Group != "apiregistration.k8s.io" {
				t.Errorf("a ClusterRole: %s", rule)
			}
		}
	}
	elsewhere := cluster.Namespace(t)
	cluster.Apply(t, elsewhere, s.fill("{apiVersion: GROUP/v1, kind: Web, metadata: {name: r}, spec: {all: true}}"))
	s.web("r", "all: true")
	s.is("r", "Ready", "True", "")
	cluster.Delete(t, "v1", "ConfigMap", s.namespace, "r")
	kit.Eventually(t, "it is recreated", func() error { _, err := cluster.Get("v1", "ConfigMap", s.namespace, "r"); return err })
	if err := cluster.Gone("v1", "ConfigMap", elsewhere, "r"); err != nil {
		t.Error(err)
	}
	s.operator.Stop(t)
	proven(t, s.name(), nil, all, s.sent)
}
