package patches

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// optionalThing makes a Thing and a ConfigMap, each if the spec says so.
var optionalThing = map[string]string{
	"kind.yaml": allowEmpty,
	"thing.yaml": `{{- if .spec.thing }}
apiVersion: GROUP/v1
kind: Thing
metadata:
  name: {{ .metadata.name }}
{{- end }}
`,
	"map.yaml": `{{- if .spec.map }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  k: {{ .spec.map }}
{{- end }}
`}

// TestPruneForbidden: what RBAC forbids to prune is tried again until it is
// done; what else is to be pruned goes at once.
func TestPruneForbidden(t *testing.T) {
	t.Parallel()
	s := buildLimited(t, rightsToMaps+rights("things", allVerbs), optionalThing)
	s.web("r", "thing: true, map: one")
	s.ready("r")
	s.grant(rightsToMaps + rights("things", "get, list, watch, create, patch"))
	s.web("r", "more: none")
	s.is("r", "Ready", "False", `cannot delete resource "things" in API group "`+s.group+`"`)
	s.is("r", "Ready", "False", "PruneFailed")
	s.gone("v1", "ConfigMap", "r")
	s.get(s.apiVersion(), "Thing", "r")
	s.grant(rightsToMaps + rights("things", allVerbs))
	s.gone(s.apiVersion(), "Thing", "r")
	s.ready("r")
	s.rests(s.apiVersion() + " Thing")
}

// TestPruneRefused: the same where an admission policy refuses the deletion.
func TestPruneRefused(t *testing.T) {
	t.Parallel()
	s := build(t, optionalThing)
	s.web("r", "map: one")
	s.ready("r")
	s.apply("person", `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep-GROUP}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+s.namespace+`}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]
  validations: [{expression: "false", message: not today}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep-GROUP}
spec: {policyName: keep-GROUP, validationActions: [Deny]}
`)
	kit.Eventually(t, "the policy is in force", func() error {
		s.apply("person", theirs("probe", ""))
		o := s.get("v1", "ConfigMap", "probe")
		if err := cluster.Client.Delete(t.Context(), o); err != nil {
			return nil
		}
		return fmt.Errorf("it was deleted")
	})
	s.web("r", "more: none")
	s.is("r", "Ready", "False", "not today")
	s.is("r", "Ready", "False", "keep-"+s.group)
	s.get("v1", "ConfigMap", "r")
	cluster.Delete(t, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", "keep-"+s.group)
	s.gone("v1", "ConfigMap", "r")
	s.ready("r")
	s.rests()
}

// TestPruneFinalizer: a child that ends only when a finalizer goes is deleted
// once, and made again afterwards if it is wanted again.
func TestPruneFinalizer(t *testing.T) {
	t.Parallel()
	s := build(t, optionalThing)
	s.web("r", "map: one")
	s.ready("r")
	s.merge("v1", "ConfigMap", "r", "person", `{"metadata":{"finalizers":["example.com/stay"]}}`)
	uid := s.get("v1", "ConfigMap", "r").GetUID()
	mark := cluster.Mark(t)
	s.web("r", "more: none")
	kit.Eventually(t, "it is being deleted", func() error {
		if s.get("v1", "ConfigMap", "r").GetDeletionTimestamp() == nil {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	s.rests()
	if n := kit.Tally(s.sent(mark))["delete configmaps"]; n != 1 {
		t.Errorf("deleted %d times", n)
	}
	s.web("r", "map: two")
	s.is("r", "Ready", "False", "being deleted")
	s.merge("v1", "ConfigMap", "r", "person", `{"metadata":{"finalizers":null}}`)
	s.has("v1", "ConfigMap", "r", "data.k", "two")
	if s.get("v1", "ConfigMap", "r").GetUID() == uid {
		t.Error("it is the old one")
	}
	s.ready("r")
	s.rests()
}

// nowhere lets an API group be served by a Service that is not there, so that
// its discovery fails, and returns what ends that.
func (s *site) nowhere(group string) (end func()) {
	s.Helper()
	name := "v1." + group
	s.merge("apiregistration.k8s.io/v1", "APIService", name,
		"person", `{"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null}},
		"spec":{"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"nowhere","port":443}}}`)
	kit.Eventually(s, "the group is not served any more", func() error {
		if _, err := cluster.Get(group+"/v1", "Thing", s.namespace, "none"); !unavailable(err) {
			return fmt.Errorf("it still is: %w", err)
		}
		return nil
	})
	return func() {
		s.Helper()
		cluster.Delete(s, "apiregistration.k8s.io/v1", "APIService", "", name) // made again by the API server
		cluster.Served(s, group+"/v1", "Thing")
	}
}

// unavailable reports whether the API server could not ask who serves a group.
func unavailable(err error) bool {
	return err != nil && (apierrors.IsServiceUnavailable(err) || strings.Contains(err.Error(), "no matches for kind") ||
		strings.Contains(err.Error(), "unable to retrieve"))
}

// TestDiscoveryFails: while the discovery of one group fails, its children are
// not taken for gone, those of other groups are pruned, and a resource whose
// finalizer is ours and that has children in the group is held and says so;
// also by an operator that never saw the group, and without the folder.
func TestDiscoveryFails(t *testing.T) {
	t.Parallel()
	group := fmt.Sprintf("things%d.example.com", sites.Add(1))
	cluster.Apply(t, "", kindOf("Thing", group, "Namespaced"))
	cluster.Apply(t, "", kindOf("ClusterThing", group, "Cluster"))
	cluster.Served(t, group+"/v1", "ClusterThing")
	s := build(t, map[string]string{
		"kind.yaml": allowEmpty + "children:\n- {apiVersion: " + group + "/v1, kind: ClusterThing}\n",
		"things.yaml": `{{- if .spec.thing }}
apiVersion: ` + group + `/v1
kind: Thing
metadata:
  name: {{ .metadata.name }}
---
apiVersion: ` + group + `/v1
kind: ClusterThing
metadata:
  name: {{ .metadata.namespace }}-{{ .metadata.name }}
{{- end }}
`,
		"map.yaml": optionalThing["map.yaml"],
	})
	s.web("r", "thing: true, map: one")
	s.web("z", "thing: true, map: one")
	s.ready("r")
	s.ready("z")
	end := s.nowhere(group)
	s.web("z", "more: none") // pruned where it is known
	s.gone("v1", "ConfigMap", "z")
	s.delete(s.apiVersion(), "Web", "r")
	s.is("r", "Ready", "False", "Thing")
	s.operator.Stop(t)
	s.again() // this one never saw the group
	s.rests()
	s.is("r", "Ready", "False", "Thing")
	s.operator.Stop(t)
	s.write(map[string]string{"things.yaml": "# none\n", "kind.yaml": allowEmpty + // nor does the folder make any
		"retired: [{apiVersion: " + group + "/v1, kind: Thing}, {apiVersion: " + group + "/v1, kind: ClusterThing}]\n"})
	s.again()
	s.rests()
	s.is("r", "Ready", "False", "Thing")
	end()
	s.gone(s.apiVersion(), "Web", "r")
	kit.Eventually(t, "what was left is pruned", func() error {
		for _, name := range []string{"r", "z"} {
			if err := cluster.Gone(group+"/v1", "ClusterThing", "", s.namespace+"-"+name); err != nil {
				return err
			}
		}
		return cluster.Gone(group+"/v1", "Thing", s.namespace, "z")
	})
	s.ready("z")
	s.rests()
}
