package patches

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/test/kit"
)

const patchesMap = `{{- if not .spec.gone }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}-theirs
  annotations:
    jacquard.dev/ownership: patch
data:
  ours: "1"
{{- end }}
`

// forged applies a Service that nobody but a resource's field manager owns: its
// fields cannot be released, since it would have no ports.
func (s *site) forged(namespace, owner string) {
	s.Helper()
	o := kit.Parse(s, "{apiVersion: v1, kind: Service, metadata: {name: forged}, spec: {ports: [{port: 80}]}}")[0]
	o.SetNamespace(namespace)
	if err := cluster.Client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o),
		client.FieldOwner(s.manager(owner))); err != nil {
		s.Fatal(err)
	}
}

// ours reports whether an object has an entry of that manager.
func ours(namespace, manager string) error {
	o, err := cluster.Get("v1", "Service", namespace, "forged")
	if err != nil {
		return err
	}
	for _, m := range o.GetManagedFields() {
		if m.Manager == manager {
			return fmt.Errorf("%s has an entry", manager)
		}
	}
	return nil
}

var patchesService = map[string]string{"patch.yaml": `apiVersion: v1
kind: Service
metadata:
  name: {{ .metadata.name }}
  annotations:
    jacquard.dev/ownership: patch
    touched: "yes"
`}

const aService = "{apiVersion: v1, kind: Service, metadata: {name: r}, spec: {ports: [{port: 80}]}}"

// TestForgedElsewhere: what somebody applies under a resource's field manager
// where the kind may not patch is nobody's concern.
func TestForgedElsewhere(t *testing.T) {
	t.Parallel()
	s := build(t, patchesService)
	s.apply("person", aService)
	s.web("r", "")
	s.ready("r")
	other, manager := cluster.Namespace(t), s.manager("r")
	s.forged(other, "r")
	s.rests()
	s.ready("r")
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "r")
	kit.Eventually(t, "the resource is gone", func() error { return cluster.Gone(s.apiVersion(), "Web", s.namespace, "r") })
	if ours(other, manager) == nil {
		t.Error("somebody else's object was written")
	}
}

// TestForgedHere: where the kind may patch, what cannot be released is named,
// and our entry is dropped: nothing keeps the next operator from letting go.
func TestForgedHere(t *testing.T) {
	t.Parallel()
	s := build(t, patchesService)
	s.apply("person", aService)
	s.web("r", "")
	s.ready("r")
	manager := s.manager("r")
	s.forged(s.namespace, "r")
	kit.Eventually(t, "our entry is dropped", func() error { return ours(s.namespace, manager) })
	s.is("r", "Ready", "False", "ReleaseFailed")
	s.is("r", "Ready", "False", "giving back Service "+s.namespace+"/forged")
	cluster.Delete(t, s.apiVersion(), "Web", s.namespace, "r")
	s.is("r", "Ready", "False", "ReleaseFailed")
	s.operator.Stop(t)
	s.again()
	kit.Eventually(t, "the resource is gone", func() error { return cluster.Gone(s.apiVersion(), "Web", s.namespace, "r") })
}

// TestImmutableSince: the same where the patched object became immutable.
func TestImmutableSince(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"kind.yaml": allowEmpty, "patch.yaml": patchesMap})
	s.apply("person", "{apiVersion: v1, kind: ConfigMap, metadata: {name: r-theirs}, data: {own: text}}")
	s.web("r", "")
	s.ready("r")
	s.merge("v1", "ConfigMap", "r-theirs", "person", `{"immutable":true}`)
	s.web("r", "gone: true")
	s.is("r", "Ready", "False", "ReleaseFailed")
	s.has("v1", "ConfigMap", "r-theirs", "data.ours", "1", "data.own", "text")
	kit.Eventually(t, "our entry is dropped", func() error { // not at once where its object changed meanwhile
		for _, m := range s.get("v1", "ConfigMap", "r-theirs").GetManagedFields() {
			if m.Manager == s.manager("r") {
				return fmt.Errorf("it is there still: %v", m)
			}
		}
		return nil
	})
	s.rests()
}

// TestGiveBackDenied: where a policy refuses that a patch is released, the
// object is named, and its fields are released once the policy is gone.
func TestGiveBackDenied(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"kind.yaml": allowEmpty, "patch.yaml": patchesMap})
	s.apply("person", "{apiVersion: v1, kind: ConfigMap, metadata: {name: r-theirs}, data: {own: text}}")
	s.web("r", "")
	s.ready("r")
	s.apply("person", `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: still-GROUP}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: `+s.namespace+`}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [UPDATE]}]
  validations: [{expression: "'free' in object.data", message: not today}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: still-GROUP}
spec: {policyName: still-GROUP, validationActions: [Deny]}
`)
	s.apply("person", theirs("probe", ""))
	kit.Eventually(t, "the policy is in force", func() error {
		o := s.get("v1", "ConfigMap", "probe")
		o.SetAnnotations(map[string]string{"at": fmt.Sprint(time.Now().UnixNano())})
		if err := cluster.Client.Update(t.Context(), o); err != nil {
			return nil
		}
		return fmt.Errorf("it was changed")
	})
	s.web("r", "gone: true")
	s.is("r", "Ready", "False", "ReleaseFailed")
	s.is("r", "Ready", "False", "not today")
	s.has("v1", "ConfigMap", "r-theirs", "data.ours", "1", "data.own", "text")
	cluster.Delete(t, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "", "still-"+s.group)
	s.has("v1", "ConfigMap", "r-theirs", "data.ours", nil, "data.own", "text")
	s.ready("r")
}

// optionalPatch patches a Thing until the spec says that it is gone.
const optionalPatch = `{{- if not .spec.gone }}
apiVersion: GROUP/v1
kind: Thing
metadata:
  name: {{ .metadata.name }}-theirs
  annotations:
    jacquard.dev/ownership: patch
spec:
  ours: "1"
{{- end }}
`

// TestGiveBackForbidden: a missing right to give a patch back holds as long as the
// folder or the record names the kind; once neither does, the resource is let go,
// and an event says what stays as it is.
func TestGiveBackForbidden(t *testing.T) {
	t.Parallel()
	s := buildLimited(t, rightsToMaps+rights("things", "get, list, watch, patch"),
		map[string]string{"kind.yaml": allowEmpty, "patch.yaml": optionalPatch})
	for _, name := range []string{"r", "going"} {
		s.apply("person", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: "+name+"-theirs}, spec: {own: text}}")
		s.web(name, "")
		s.ready(name)
	}
	s.grant(rightsToMaps + rights("things", "get, list, watch"))
	s.web("r", "gone: true")
	s.delete(s.apiVersion(), "Web", "going")
	s.is("r", "Ready", "False", `cannot patch resource "things"`)
	s.is("going", "Ready", "False", `cannot patch resource "things"`)
	s.write(map[string]string{"patch.yaml": "# none\n", "map.yaml": optionalThing["map.yaml"]})
	s.web("new", "map: one")
	s.ready("new")
	s.is("r", "Ready", "False", `cannot patch resource "things"`)
	s.is("going", "Ready", "False", `cannot patch resource "things"`)
	s.merge("apiextensions.k8s.io/v1", "CustomResourceDefinition", "webs."+s.group, "person",
		`{"metadata":{"annotations":{"jacquard.dev/patched-kinds":null}}}`)
	s.gone(s.apiVersion(), "Web", "going")
	s.ready("r")
	for _, name := range []string{"r", "going"} {
		s.told(name, "Warning ReleaseFailed", "the fields of Thing "+s.namespace+"/"+name+"-theirs stay as they are",
			`cannot patch resource "things"`)
		s.has(s.apiVersion(), "Thing", name+"-theirs", "spec.ours", "1", "spec.own", "text")
	}
}

// told waits until an event about a resource has all these parts.
func (s *site) told(name string, parts ...string) {
	s.Helper()
	kit.Eventually(s, fmt.Sprintf("an event about %s says %q", name, parts), func() error {
		var notes []string
		for _, e := range cluster.List(s, "events.k8s.io/v1", "Event", client.InNamespace(s.namespace)) {
			about, _, _ := unstructured.NestedStringMap(e.Object, "regarding")
			note := fmt.Sprint(e.Object["type"], " ", e.Object["reason"], " ", e.Object["note"])
			if about["name"] == name && !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(note, part) }) {
				return nil
			}
			notes = append(notes, note)
		}
		return fmt.Errorf("there are %q", notes)
	})
}
