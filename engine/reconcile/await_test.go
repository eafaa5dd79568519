package reconcile

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

const (
	// servers renders a Deployment for each item of the spec.
	servers = "{{ range .spec.items }}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .name }}}\n" +
		"spec: {paused: {{ eq .size 2 }}, template: {spec: {containers: [{name: main}]}}}\n{{ end }}\n"
	afterServers = "{{- $_ := await \"servers\" }}\n"
)

// setItems gives the thing items of these names, each with a size.
func (w *world) setItems(size int64, names ...string) {
	items := make([]any, len(names))
	for i, name := range names {
		items[i] = map[string]any{"name": name, "size": size}
	}
	w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedSlice(o.Object, items, "spec", "items") })
}

// available lets a Deployment's controller report that its Pods are available.
func (w *world) available(name string) {
	w.server.Change(w.server.Get(deploymentKind, "default", name), "deployment-controller", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"observedGeneration": o.GetGeneration(), "replicas": int64(1), "updatedReplicas": int64(1),
			"readyReplicas": int64(1), "availableReplicas": int64(1),
			"conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
	})
}

// has compares whether the ConfigMap named one is there.
func (w *world) has(when string, want bool) {
	w.Helper()
	if got := w.server.Get(mapKind, "default", "one") != nil; got != want {
		w.Errorf("%s, the file that awaits has made its object: %v, want %v", when, got, want)
	}
}

// TestAwaitWaitsForAll: a file that awaits another waits until all that this renders
// now is applied and ready, whichever is the newest.
func TestAwaitWaitsForAll(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		w := newWorld(t, map[string]string{"servers.yaml": servers, "one.yaml": afterServers + oneMap})
		w.setItems(1, "a", "b")
		w.settle()
		w.says("when nothing is ready", "Waiting", "one: servers: Deployment a is not ready: ", "and 1 more")
		w.available(first)
		w.settle()
		w.has("when "+first+" alone is ready", false)
		other := map[string]string{"a": "b", "b": "a"}[first]
		w.says("when "+first+" alone is ready", "Waiting", "one: servers: Deployment "+other+" is not ready: ")
		w.available(other)
		w.settle()
		w.has("when both are ready", true)

		w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "y", "spec", "name") })
		w.setItems(2, "a", "b")
		w.turn()
		if got := w.server.Get(mapKind, "default", "one").Object["data"].(map[string]any)["name"]; got != "x" {
			t.Errorf("while a change of what is awaited is not applied yet, it made %v", got)
		}
	}
}

// TestAwaitIgnoresWhatIsNotRendered: an object that the awaited file does not render any
// more, and that cannot go, is not waited for.
func TestAwaitIgnoresWhatIsNotRendered(t *testing.T) {
	w := newWorld(t, map[string]string{"servers.yaml": servers, "one.yaml": afterServers + oneMap})
	w.setItems(1, "a", "b")
	w.settle()
	w.server.Change(w.server.Get(deploymentKind, "default", "b"), "other", func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"other.io/f"}) })
	w.available("a")
	w.setItems(1, "a")
	w.settle()
	w.has("when what is not ready is not rendered any more", true)
}

// TestAwaitOfOnceJob: of what is awaited, a Job made once that succeeded and is gone is
// ready.
func TestAwaitOfOnceJob(t *testing.T) {
	once := strings.Replace(plainJob, "NAME", "once, annotations: {"+api.AnnotationRunOnce+": \"true\"}", 1)
	w := newWorld(t, map[string]string{"servers.yaml": once + "---\n" + strings.Replace(plainJob, "NAME", "other", 1),
		"one.yaml": afterServers + oneMap})
	w.settle()
	w.completes("once")
	w.settle()
	w.has("when one Job is not complete", false)
	w.server.Delete(w.server.Get(plan.JobKind, "default", "once"))
	w.settle()
	w.says("when one Job is gone and the other not complete", "Waiting", "one: servers: Job other is not ready: ")
	w.completes("other")
	w.settle()
	w.has("when both succeeded", true)
}

// TestAwaitOfMarkedDocuments: what is awaited is compared with what is applied, by its
// annotations too, whichever file is rendered first.
func TestAwaitOfMarkedDocuments(t *testing.T) {
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two, annotations: {MARK}}\ndata: {fixed: text}\n"
	for name, mark := range map[string]string{
		"it is kept": api.AnnotationOnDelete + ": keep", "a field is initial": api.AnnotationInitialFields + ": data.fixed",
		"it is recreated": api.AnnotationOnImmutable + ": recreate",
	} {
		for _, file := range []string{"before", "then"} {
			w := newWorld(t, map[string]string{file + ".yaml": strings.Replace(text, "MARK", mark, 1),
				"one.yaml": "{{- $_ := await \"" + file + "\" }}\n" + oneMap})
			w.settle()
			w.has("where "+name+", in "+file+".yaml", true)
		}
	}
}

// TestAwaitOfNothing: where the awaited file renders nothing, the file that awaits it
// waits, and its message says why.
func TestAwaitOfNothing(t *testing.T) {
	w := newWorld(t, map[string]string{"servers.yaml": servers, "one.yaml": afterServers + oneMap})
	w.settle()
	w.says("when the awaited file renders nothing", "Waiting", "one: servers: it renders no object for this resource")
	w.setItems(1, "a")
	w.settle()
	w.available("a")
	w.settle()
	w.has("when it renders what is ready", true)
}

// TestAwaitInACircle: files that await each other wait.
func TestAwaitInACircle(t *testing.T) {
	w := newWorld(t, map[string]string{"servers.yaml": "{{- $_ := await \"one\" }}\n" + twoMap, "one.yaml": afterServers + oneMap})
	w.settle()
	w.says("when two files await each other", "Waiting", "one: servers: it waits itself", "servers: one: ")
}
