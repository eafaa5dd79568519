package patches

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// patchSelected patches every ConfigMap that the spec selects.
const patchSelected = `{{- range select "v1" "ConfigMap" (dict "matchLabels" .spec.select) }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .metadata.name }}
  annotations:
    jacquard.dev/ownership: patch
    seen-by: {{ $.metadata.name }}
{{- end }}
`

func labelled(name, labels string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, labels: {%s}}, data: {theirs: x}}\n", name, labels)
}

// TestSelectorChanges: while the operator is down the selector changes, and an
// object stops matching. After the start both are found by the manager of
// their fields, and these are released.
func TestSelectorChanges(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"maps.yaml": patchSelected, "kind.yaml": allowEmpty})
	s.apply("person", labelled("a", "app: a")+labelled("b", "app: b")+labelled("c", "app: b"))
	s.web("x", "select: {app: a}")
	s.web("z", "select: {app: b}")
	s.ready("x")
	s.ready("z")
	for name, by := range map[string]string{"a": "x", "b": "z", "c": "z"} {
		s.has("v1", "ConfigMap", name, "metadata.annotations.seen-by", by)
	}
	s.operator.Stop(t)
	s.web("x", "select: {app: none}")
	s.merge("v1", "ConfigMap", "c", "person", `{"metadata":{"labels":{"app":"c"}}}`)
	s.start()
	s.unpatched("v1", "ConfigMap", "a")
	s.unpatched("v1", "ConfigMap", "c")
	s.has("v1", "ConfigMap", "a", "metadata.annotations", nil, "data.theirs", "x")
	s.has("v1", "ConfigMap", "c", "metadata.annotations", nil, "data.theirs", "x")
	s.has("v1", "ConfigMap", "b", "metadata.annotations.seen-by", "z")
	s.ready("x")
	s.ready("z")
	s.rests()
}

// TestGivenBack: of a resource that goes exactly its own fields go, also if
// its folder does not load any more by then.
func TestGivenBack(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.apply("gitops", theirs("m", "a: gitops"))
	s.merge("v1", "ConfigMap", "m", "kubectl-edit",
		`{"data":{"b":"edited"},"metadata":{"labels":{"l":"edited"},"finalizers":["example.com/stay"]}}`)
	s.web("x", "map: m, data: {a: gitops, c: ours}")
	s.ready("x")
	s.operator.Stop(t)
	s.write(map[string]string{"map.yaml": "{{ broken\n"})
	s.start()
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
	s.has("v1", "ConfigMap", "m", "data", map[string]any{"a": "gitops", "b": "edited"}, "metadata.labels.l", "edited", "metadata.finalizers",
		"[example.com/stay]")
	s.unpatched("v1", "ConfigMap", "m")
	s.merge("v1", "ConfigMap", "m", "person", `{"metadata":{"finalizers":null}}`)
}

// TestComesAndGoes: an object that is not there is waited for, patched when it
// comes, never created; and patched again when it is deleted and recreated.
func TestComesAndGoes(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.web("x", "map: m, data: {a: ours}")
	s.is("x", "Ready", "False", "ConfigMap "+s.namespace+"/m")
	s.is("x", "Reconciling", "True", "it is not there")
	s.rests()
	if err := cluster.Gone("v1", "ConfigMap", s.namespace, "m"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s.apply("person", theirs("m", "p: q"))
		s.has("v1", "ConfigMap", "m", "data.a", "ours", "data.p", "q")
		s.ready("x")
		s.delete("v1", "ConfigMap", "m")
		s.is("x", "Ready", "False", "it is not there")
	}
	s.apply("person", theirs("m", "p: q"))
	s.ready("x")
	for range 20 { // at once: no event between
		s.delete("v1", "ConfigMap", "m")
		s.apply("person", theirs("m", "p: q"))
	}
	s.has("v1", "ConfigMap", "m", "data.a", "ours", "data.p", "q")
	s.ready("x")
	s.rests()
	s.delete("v1", "ConfigMap", "m")
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
}

// TestTerminating: an object that is being deleted is not patched any more, and
// releases what it has.
func TestTerminating(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap})
	s.apply("person", theirs("m", "p: q"))
	s.merge("v1", "ConfigMap", "m", "person", `{"metadata":{"finalizers":["example.com/stay"]}}`)
	s.web("x", "map: m, data: {a: ours}")
	s.ready("x")
	s.delete("v1", "ConfigMap", "m")
	s.is("x", "Ready", "False", "it is being deleted")
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
	s.unpatched("v1", "ConfigMap", "m")
	s.merge("v1", "ConfigMap", "m", "person", `{"metadata":{"finalizers":null}}`)
}

// TestWaitingKeeps: a file that waits keeps its patches; when it goes on, what
// it does not render any more is released.
func TestWaitingKeeps(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": "{{- if .spec.wait }}{{ wait \"not now\" }}{{ end }}\n" + patchMap, "kind.yaml": allowEmpty})
	s.apply("person", theirs("m", "p: q")+theirs("o", "p: q"))
	s.web("x", "map: m, data: {a: ours}")
	s.ready("x")
	s.web("x", "map: o, data: {a: ours}, wait: true")
	s.is("x", "Reconciling", "True", "map: not now")
	s.rests()
	s.has("v1", "ConfigMap", "m", "data.a", "ours")
	s.has("v1", "ConfigMap", "o", "data.a", nil)
	s.operator.Stop(t)
	s.again()
	s.rests()
	s.has("v1", "ConfigMap", "m", "data.a", "ours")
	s.web("x", "map: o, data: {a: ours}")
	s.ready("x")
	s.has("v1", "ConfigMap", "o", "data.a", "ours")
	s.has("v1", "ConfigMap", "m", "data.a", nil)
	s.unpatched("v1", "ConfigMap", "m")
	s.rests()
}

// TestSubresource: a patch of the status of a custom object, and one of its
// main resource beside it, are released each.
func TestSubresource(t *testing.T) {
	t.Parallel()
	s := lay(t, map[string]string{"thing.yaml": `apiVersion: GROUP/v1
kind: Thing
metadata:
  name: {{ .spec.thing }}
  annotations:
    jacquard.dev/ownership: patch
    jacquard.dev/subresource: status
status:
  seen: {{ .spec.seen }}
---
apiVersion: GROUP/v1
kind: Thing
metadata:
  name: {{ .spec.thing }}
  annotations:
    jacquard.dev/ownership: patch
spec:
  seen: {{ .spec.seen }}
`})
	cluster.Apply(t, "", kindOf("Thing", s.group, "Namespaced"))
	cluster.Served(t, s.apiVersion(), "Thing")
	s.start()
	cluster.Served(t, s.apiVersion(), "Web")
	s.apply("person", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: t}, spec: {theirs: x}}")
	s.apply("controller", "{apiVersion: GROUP/v1, kind: Thing, metadata: {name: t}, status: {other: x}}", "status")
	s.web("x", "thing: t, seen: one")
	s.ready("x")
	s.has(s.apiVersion(), "Thing", "t", "status.seen", "one", "spec.seen", "one")
	s.web("x", "thing: t, seen: two")
	s.has(s.apiVersion(), "Thing", "t", "status.seen", "two", "spec.seen", "two")
	s.ready("x")
	s.rests(s.apiVersion() + " Thing")
	s.operator.Stop(t)
	s.again()
	s.rests(s.apiVersion() + " Thing")
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
	s.unpatched(s.apiVersion(), "Thing", "t")
	s.has(s.apiVersion(), "Thing", "t", "status.seen", nil, "status.other", "x", "spec", map[string]any{"theirs": "x"})
}

// TestLasting: what a subresource never releases holds up no deletion.
func TestLasting(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"pod.yaml": `apiVersion: v1
kind: Pod
metadata:
  name: {{ .spec.pod }}
  annotations:
    jacquard.dev/ownership: patch
    jacquard.dev/subresource: ephemeralcontainers
spec:
  ephemeralContainers:
  - name: look
    image: busybox
    targetContainerName: jvm
`})
	s.apply("person", pod("p", "app: x"))
	s.has("v1", "Pod", "p", "status.phase", "Running")
	s.web("x", "pod: p")
	s.ready("x")
	s.rests()
	s.delete(s.apiVersion(), "Web", "x")
	s.gone(s.apiVersion(), "Web", "x")
	o := s.get("v1", "Pod", "p")
	if all, _, _ := unstructured.NestedSlice(o.Object, "spec", "ephemeralContainers"); len(all) != 1 {
		t.Errorf("ephemeral containers: %v", all)
	}
}

// TestFinalizer: the finalizer is on every resource that patches, from before
// the first patch until all is released.
func TestFinalizer(t *testing.T) {
	t.Parallel()
	s := build(t, map[string]string{"map.yaml": patchMap, "kind.yaml": allowEmpty})
	s.apply("person", theirs("m", "p: q"))
	s.web("x", "more: none")
	s.ready("x")
	s.has(s.apiVersion(), "Web", "x", "metadata.finalizers", nil)
	s.web("x", "map: m, data: {a: ours}")
	s.ready("x")
	s.has(s.apiVersion(), "Web", "x", "metadata.finalizers", fmt.Sprint([]string{api.Finalizer}))
	s.operator.Stop(t)
	s.delete(s.apiVersion(), "Web", "x")
	s.has("v1", "ConfigMap", "m", "data.a", "ours")
	s.start()
	s.gone(s.apiVersion(), "Web", "x")
	s.has("v1", "ConfigMap", "m", "data.a", nil, "data.p", "q")
}
