package patches

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// patchMap patches the ConfigMap that the spec names, with the data it names.
const patchMap = `{{- with .spec.map }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ . }}
  annotations:
    jacquard.dev/ownership: patch
data: {{ $.spec.data }}
{{- end }}
`

const allowEmpty = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nallowEmpty: true\n"

// theirs is a ConfigMap of somebody else.
func theirs(name, data string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {%s}}\n", name, data)
}

// TestConflict: a field that another manager holds with another value is
// named, never forced, and patched once the other lets go; one that it holds
// with the same value is no conflict.
func TestConflict(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.apply("gitops", theirs("m", "a: theirs, b: same"))
	s.web("x", "map: m, data: {b: same, c: ours}")
	s.ready("x")
	s.has("v1", "ConfigMap", "m", "data.a", "theirs", "data.b", "same", "data.c", "ours")
	s.web("x", "map: m, data: {a: ours, b: same, c: ours}")
	s.is("x", "Stalled", "True", "Conflict")
	for _, part := range []string{"ConfigMap " + s.namespace + "/m", `"gitops"`, "data.a"} {
		s.is("x", "Ready", "False", part)
	}
	s.has("v1", "ConfigMap", "m", "data.a", "theirs", "data.b", "same", "data.c", "ours")
	s.apply("gitops", theirs("m", "b: same"))
	s.ready("x")
	s.has("v1", "ConfigMap", "m", "data.a", "ours", "data.b", "same", "data.c", "ours")
	s.apply("gitops", theirs("m", "b: other")) // by force, as people do
	s.is("x", "Ready", "False", `"gitops"`)
	s.has("v1", "ConfigMap", "m", "data.b", "other")
	s.apply("gitops", theirs("m", ""))
	s.ready("x")
	s.has("v1", "ConfigMap", "m", "data.b", "same")
	s.rests()
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
	s.unpatched("v1", "ConfigMap", "m")
	s.has("v1", "ConfigMap", "m", "data", nil)
}

// TestTwoResources: two resources patch one object. Of different fields each
// releases its own; of the same field with the same value the other keeps
// it; with another value the second one is told of the first.
func TestTwoResources(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.apply("person", theirs("m", "p: q"))
	s.web("x", "map: m, data: {x: one, both: same}")
	s.web("z", "map: m, data: {z: two, both: same}")
	s.ready("x")
	s.ready("z")
	s.has("v1", "ConfigMap", "m", "data.x", "one", "data.z", "two", "data.both", "same", "data.p", "q")
	s.rests()
	s.web("z", "map: m, data: {z: two, both: other}")
	s.is("z", "Ready", "False", "data.both")
	s.is("z", "Ready", "False", s.manager("x"))
	s.ready("x")
	s.has("v1", "ConfigMap", "m", "data.both", "same", "data.z", "two")
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
	s.ready("z")
	s.has("v1", "ConfigMap", "m", "data.x", nil, "data.z", "two", "data.both", "other", "data.p", "q")
	s.delete(s.apiVersion(), "Web", "z")
	s.gone(s.apiVersion(), "Web", "z")
	s.has("v1", "ConfigMap", "m", "data.z", nil, "data.both", nil, "data.p", "q")
	s.unpatched("v1", "ConfigMap", "m")
}

// TestTakenByForce: what another manager takes by force becomes a conflict,
// named, and ours again when it lets go. A field changed by a plain update, as
// by kubectl edit, is such a field too.
func TestTakenByForce(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.apply("person", theirs("m", "p: q"))
	s.web("x", "map: m, data: {a: ours, b: ours}")
	s.ready("x")
	s.merge("v1", "ConfigMap", "m", "kubectl-edit", `{"data":{"a":"theirs"}}`)
	s.is("x", "Ready", "False", "kubectl-edit")
	s.is("x", "Ready", "False", "data.a")
	s.has("v1", "ConfigMap", "m", "data.a", "theirs", "data.b", "ours")
	s.merge("v1", "ConfigMap", "m", "kubectl-edit", `{"data":{"a":"ours"}}`)
	s.ready("x")
	s.merge("v1", "ConfigMap", "m", "kubectl-edit", `{"data":{"b":null}}`) // removed: nobody holds it
	s.has("v1", "ConfigMap", "m", "data.b", "ours")
	s.ready("x")
	s.rests()
}

// TestContended: an autoscaler of its own mind and a rendered field of an owned
// child. It is set right three times at once, and then with a condition that names
// manager and field.
func TestContended(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
data:
  replicas: {{ .spec.replicas | quote }}
`})
	scale := func() { s.merge("v1", "ConfigMap", "x", "autoscaler", `{"data":{"replicas":"5"}}`) }
	s.web("x", "replicas: 2")
	s.ready("x")
	mark := cluster.Mark(t)
	for range 3 {
		scale()
		s.has("v1", "ConfigMap", "x", "data.replicas", "2")
		s.ready("x")
	}
	kit.Eventually(t, "the audit log has 3 corrections for 3 changes", func() error {
		if n := corrections(s.sent(mark), "x"); n != 3 {
			return fmt.Errorf("it has %d", n)
		}
		return nil
	})
	scale() // the fourth: once more, and it is said
	for _, part := range []string{"Contended", "autoscaler", "data.replicas"} {
		s.is("x", "Ready", "False", part)
	}
	s.has("v1", "ConfigMap", "x", "data.replicas", "2")
	mark = cluster.Mark(t)
	scale() // faster than the pace, which has dropped
	s.operator.AwaitQuiet(t)
	if n := corrections(s.sent(mark), "x"); n > 0 {
		t.Errorf("%d corrections while contended: %v", n, s.sent(mark))
	}
	s.has("v1", "ConfigMap", "x", "data.replicas", "2")
	s.is("x", "Ready", "False", "Contended")
}

// corrections counts the applies of a ConfigMap.
func corrections(sent []kit.Request, name string) int {
	return kit.Tally(slices.DeleteFunc(sent, func(r kit.Request) bool { return r.Name != name }))["patch configmaps"]
}
