package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// TestRecordDone: the record of Jobs that have succeeded is bounded, keeps what
// is rendered now, and takes up no text that is no hash.
func TestRecordDone(t *testing.T) {
	hash := func(n int) string { return fmt.Sprintf("v1:%064x", n) }
	record := ""
	for n := range 300 {
		now := []done{{fmt.Sprint("migrate-", n), hash(n)}, {"forged", "x,migrate-999=" + hash(999)}}
		record = recordDone(record, now, func(job string) bool { return job == "migrate-7" })
	}
	all := doneIn(record)
	if len(all) != mostDone {
		t.Errorf("%d are on record, want %d", len(all), mostDone)
	}
	for job, want := range map[string]bool{"migrate-7": true, "migrate-8": false, "migrate-299": true, "migrate-999": false, "forged": false} {
		if got := strings.Contains(record, job+"="); got != want {
			t.Errorf("%s is on record: %v, want %v", job, got, want)
		}
	}
	if again := recordDone(record, []done{{"migrate-299", hash(300)}}, func(string) bool { return true }); !strings.HasSuffix(again,
		"migrate-299="+hash(300)) || strings.Contains(again, hash(299)) {
		t.Errorf("another content is recorded as %s", again)
	}
}

// TestReferencesFollowVersion: once a resource is served in a later version of its API,
// so are the owner references of all its children, a Job made once among them: the
// garbage collector does not find the owner by a version that has ended. A paused
// resource says that its children wait for that.
func TestReferencesFollowVersion(t *testing.T) {
	later := thingKind
	later.Version = "v2"
	w := newWorld(t, map[string]string{"one.yaml": oneMap,
		"job.yaml": strings.Replace(plainJob, "NAME", "once, annotations: {"+api.AnnotationOnce+": \"true\"}", 1)}, served(later, "things", true))
	w.settle()
	made := w.server.Get(job, "default", "once")

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
	for _, o := range []*unstructured.Unstructured{w.server.Get(mapKind, "default", "one"), w.server.Get(job, "default", "once")} {
		if refs := o.GetOwnerReferences(); len(refs) != 1 || refs[0].APIVersion != "example.com/v2" || refs[0].UID != w.resource.GetUID() {
			t.Errorf("%s %s refers to %v", o.GetKind(), o.GetName(), refs)
		}
	}
	if w.server.Get(job, "default", "once").GetUID() != made.GetUID() {
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
		return strings.Replace(plainJob, "NAME", "once, namespace: "+namespace+", annotations: {"+api.AnnotationOnce+": \"true\"}", 1)
	}
	w := newWorld(t, map[string]string{"a.yaml": in("default"), "b.yaml": in("other"), "one.yaml": "{{ $_ := await \"a\" }}\n" + oneMap,
		"kind.yaml": "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: batch/v1, kind: Job, namespaces: [other]}\n"})
	w.settle()
	for _, namespace := range []string{"default", "other"} {
		w.completesIn(namespace, "once")
		w.settle()
	}
	for _, namespace := range []string{"default", "other"} {
		w.server.Delete(w.server.Get(job, namespace, "once"))
	}
	w.sends("when they are gone")
	w.says("when they are gone", "Ready")
}
