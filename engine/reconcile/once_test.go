package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// TestReferencesFollowVersion: once a resource is served in a later version of its API,
// so are the owner references of all its children, a Job made once among them: the
// garbage collector does not find the owner by a version that has ended. A paused
// resource says that its children wait for that.
func TestReferencesFollowVersion(t *testing.T) {
	later := thingKind
	later.Version = "v2"
	w := newWorld(t, map[string]string{"one.yaml": oneMap,
		"job.yaml": strings.Replace(plainJob, "NAME", "once, annotations: {"+api.AnnotationRunOnce+": \"true\"}", 1)}, served(later, "things", true))
	w.settle()
	made := w.server.Get(plan.JobKind, "default", "once")

	w.r.gvk = later
	paused := func(value string) {
		w.edit(func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{api.AnnotationPaused: value}) })
	}
	paused("true")
	w.sends("while it is paused", applyStatus)
	if message := conditionOf(w, "Paused"); !strings.Contains(message, "an owner reference in example.com/v1:") {
		t.Errorf("the condition Paused says %q", message)
	}
	paused("false")
	w.sends("when the pause ends", applyOne, "apply jobs default/once", applyStatus)
	w.sends("at rest")
	for _, o := range []*unstructured.Unstructured{w.server.Get(mapKind, "default", "one"), w.server.Get(plan.JobKind, "default", "once")} {
		if refs := o.GetOwnerReferences(); len(refs) != 1 || refs[0].APIVersion != "example.com/v2" || refs[0].UID != w.resource.GetUID() {
			t.Errorf("%s %s refers to %v", o.GetKind(), o.GetName(), refs)
		}
	}
	if w.server.Get(plan.JobKind, "default", "once").GetUID() != made.GetUID() {
		t.Error("the Job was made again")
	}
}

// conditionOf is the message of a condition of the resource, or "".
func conditionOf(w *world, kind string) string {
	all, _, _ := unstructured.NestedSlice(w.server.Get(thingKind, "default", "a").Object, "status", "conditions")
	for _, c := range all {
		if m := c.(map[string]any); m["type"] == kind {
			return fmt.Sprint(m["message"])
		}
	}
	return ""
}

// TestOnceInTwoNamespaces: Jobs made once that have one name in two namespaces do not take
// each other's place on record: neither is made again.
func TestOnceInTwoNamespaces(t *testing.T) {
	in := func(namespace string) string {
		return strings.Replace(plainJob, "NAME", "once, namespace: "+namespace+", annotations: {"+api.AnnotationRunOnce+": \"true\"}", 1)
	}
	w := newWorld(t, map[string]string{"a.yaml": in("default"), "b.yaml": in("other"), "one.yaml": "{{ $_ := await \"a\" }}\n" + oneMap,
		"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: batch/v1, kind: Job, namespaces: [other]}\n"})
	w.settle()
	for _, namespace := range []string{"default", "other"} {
		w.completesIn(namespace, "once")
		w.settle()
	}
	for _, namespace := range []string{"default", "other"} {
		w.server.Delete(w.server.Get(plan.JobKind, namespace, "once"))
	}
	w.sends("when they are gone")
	w.says("when they are gone", "Ready")
}
