package rights

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/author/rbac"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// hidden are the verbs of which the audit log shows no request of their own: the
// API server asks for them while it serves another one. Each is of a child in a
// file of its own.
var hidden = map[string]struct {
	file, verb, resource string
}{
	"create":   {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n", "create", "configmaps"},
	"block":    {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n", "update", "webs/finalizers"},
	"escalate": {"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: {{ .metadata.name }}\nrules: [{apiGroups: [x.example.com], resources: [xs], verbs: [get]}]\n", "escalate", "roles"},
	"bind": {"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: {{ .metadata.name }}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}\n",
		"bind", "clusterroles"},
	"record": {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .metadata.name }}\n", "patch", "customresourcedefinitions"},
}

// TestHiddenVerbs: without the verb the child is not made, and the resource, or
// where the kind cannot even begin, nobody, says the exact rule; with it, it is.
func TestHiddenVerbs(t *testing.T) {
	t.Parallel()
	for name, h := range hidden {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lay(t, "Namespaced", map[string]string{"child.yaml": h.file})
			s.access = cluster.Access(t)
			lacks := func(r rbac.Rule, verb string) bool { return r.Resource == h.resource && verb == h.verb }
			s.access.Deny(lacks)
			cluster.Apply(t, "", s.fill(kit.WebCRD))
			cluster.Served(t, s.group+"/v1", "Web")
			s.mark = cluster.Mark(t)
			s.operator = cluster.Run(t, func(o *controller.Options) {
				o.Config = s.access.Config
				s.access.Serve(*o, s.root)
			}, s.root)
			s.web("r", "")
			if h.resource != "customresourcedefinitions" {
				s.is("r", "Ready", "False", fmt.Sprintf("resources: [%q], verbs: [%q]}", h.resource, h.verb))
			} else {
				s.refused("patch", h.resource)
			}
			s.access.Deny(nil)
			s.web("r", "again: true") // what was refused is tried again at once, not after a minute
			s.is("r", "Ready", "True", "")
		})
	}
}

// refused waits until a request of the site's operator was refused.
func (s *site) refused(verb, resource string) {
	s.Helper()
	kit.Eventually(s, verb+" of "+resource+" is refused", func() error {
		sent := slices.DeleteFunc(cluster.AllRequests(s, s.mark), func(r kit.Request) bool { return r.User != s.access.User() })
		if !slices.ContainsFunc(sent, func(r kit.Request) bool { return r.Verb == verb && r.Resource == resource && r.Code == 403 }) {
			return fmt.Errorf("it was not: %v", sent)
		}
		return nil
	})
}
