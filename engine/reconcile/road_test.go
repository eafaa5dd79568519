package reconcile

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/test/memory"
)

const (
	oneMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {name: {{ .spec.name }}}\n"
	twoMap  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\ndata: {fixed: text}\n"
	oneNode = "apiVersion: v1\nkind: Node\nmetadata: {name: node}\nspec: {podCIDR: {{ .spec.name }}}\n"
	nodes   = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nchildren:\n- {apiVersion: v1, kind: Node}\n"
)

const (
	plainJob    = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: NAME}\nspec: {template: {spec: {containers: [{name: a}]}}}\n"
	drawnSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: drawn}\nstringData: {password: {{ stable \"secret\" \"password\" 20 }}}\n"
)

var serviceKind = schema.GroupVersionKind{Version: "v1", Kind: "Service"}

const (
	applyOne    = "apply configmaps default/one"
	readOne     = "get configmaps default/one"
	applyTwo    = "apply configmaps default/two"
	applyStatus = "apply things/status default/a"
	patchThing  = "patch things default/a"
)

// refusing answers these requests with that.
func refusing(status *metav1.Status, which string) func(memory.Request) *metav1.Status {
	return func(r memory.Request) *metav1.Status {
		if strings.HasPrefix(r.String(), which) && !r.DryRun {
			return status
		}
		return nil
	}
}

func answered(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: message, Details: &metav1.StatusDetails{Name: "one"}} //nolint:gosec // codes are small
}

// TestRoad: a new resource costs a request for each child and one for its status,
// beside the record of the kind's first resource; a change one for each child that
// differs, and for the status; at rest nothing is sent.
func TestRoad(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "two.yaml": twoMap})
	w.sends("when it is new", applyOne, applyTwo, applyStatus)
	w.says("when it is applied", "Ready")
	w.sends("at rest")
	w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "y", "spec", "name") })
	w.sends("when it is edited", applyOne, applyStatus)
	w.sends("at rest again")
	if wait := w.requeue(); wait != 0 {
		t.Errorf("at rest it asks to be looked at again after %s", wait)
	}
	one := w.server.Get(mapKind, "default", "one")
	if one.Object["data"].(map[string]any)["name"] != "y" || len(one.GetOwnerReferences()) != 1 {
		t.Errorf("the child is %v", one.Object)
	}
}

// TestDecidesFirst: everything is decided before the first write of a turn, also
// where a Job that was made once has succeeded, which goes on record, a text is
// drawn, a child is pruned, and templates read other objects. Every turn of the
// tests here is held to it (decidesFirst); this one does everything at once.
func TestDecidesFirst(t *testing.T) {
	read := strings.Replace(oneMap, "{{ .spec.name }}",
		`{{ (lookup "v1" "ConfigMap" .metadata.namespace "other").data.text | default "none" }}`, 1)
	files := map[string]string{"one.yaml": oneMap, "two.yaml": twoMap,
		"job.yaml": strings.Replace(plainJob, "NAME", "once, annotations: {"+api.AnnotationRunOnce+": \"true\"}", 1)}
	w := newWorld(t, files)
	w.settle()
	w.completes("once")
	delete(files, "two.yaml")
	files["one.yaml"], files["secret.yaml"] = read, drawnSecret
	files["status.yaml"] = `phase: {{ (lookup "v1" "ConfigMap" .metadata.namespace "third").data.text | default "none" }}` + "\n"
	w.folder(files)
	w.sends("when everything is to be done", "get secrets default/drawn", patchThing, applyOne, "apply secrets default/drawn",
		"delete configmaps default/two", applyStatus)
}

// TestDrift: what others change in a child is set right, and what they add is left
// alone.
func TestDrift(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.settle()
	one := w.server.Get(mapKind, "default", "one")
	w.server.Change(one, "other", func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "z", "data", "name") })
	w.sends("when a field was taken", applyOne)
	w.server.Change(one, "other", func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "z", "data", "extra") })
	w.sends("when a field was added")
	w.server.Delete(one)
	w.sends("when it was deleted", "get things default/a", applyOne)
	if got := w.server.Get(mapKind, "default", "one"); got == nil || fmt.Sprint(got.Object["data"]) != "map[name:x]" {
		t.Errorf("the child is %v", got)
	}
}

// TestMarksOfLaterVersion: the revision that a later version of the operator wrote on a child
// is no reason for a write after a downgrade. A write for another reason takes it off, since
// it would not be true any more. The child has no owner reference: for want of schemas, the
// server in memory does not list the parts of one.
func TestMarksOfLaterVersion(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": strings.Replace(oneMap, "{name: one}", "{name: one, annotations: {"+api.AnnotationOnDelete+": keep}}", 1)})
	w.settle()
	one := w.server.Get(mapKind, "default", "one")
	marked := one.DeepCopy()
	annotations := marked.GetAnnotations()
	annotations[api.AnnotationWrittenBy] = "2-bb"
	marked.SetAnnotations(annotations)
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"} {
		unstructured.RemoveNestedField(marked.Object, "metadata", field)
	}
	version := w.server.Apply(marked, api.FieldManager).GetResourceVersion()
	if version == one.GetResourceVersion() {
		t.Fatal("the later version wrote nothing")
	}
	w.restart()
	w.sends("after a downgrade")
	w.sends("at rest")
	w.server.Change(one, "other", func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "z", "data", "name") })
	w.sends("when a field was taken", applyOne)
	if mark := w.server.Get(mapKind, "default", "one").GetAnnotations()[api.AnnotationWrittenBy]; mark != "" {
		t.Errorf("the child that this version wrote is marked with %q", mark)
	}
	w.sends("at rest again")
}

// TestRefused: a refused child is not sent again before its time, unless it changes
// or somebody asks; how long that is, and what the status says, is by what the
// refusal means. Other children are applied, and nothing is pruned meanwhile.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status *metav1.Status
		reason string
		again  time.Duration // when it is sent again at the latest; 0: not for long
	}{
		"invalid":     {answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "data.name: Invalid value"), "Invalid", 0},
		"forbidden":   {answered(http.StatusForbidden, metav1.StatusReasonForbidden, `User "u" cannot patch resource "configmaps"`), "Forbidden", 2 * time.Second},
		"denied":      {answered(http.StatusForbidden, metav1.StatusReasonForbidden, "not on Sundays"), "DeniedByAdmission", 2 * time.Second},
		"busy":        {answered(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "busy"), "ApplyFailed", 2 * time.Second},
		"unavailable": {answered(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "etcd"), "ApplyFailed", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"one.yaml": twoMap})
			w.settle()
			w.folder(map[string]string{"other.yaml": oneMap})
			w.server.Refuse = refusing(c.status, applyOne)
			w.sends("when it is refused", applyOne, applyStatus)
			w.says("when it is refused", c.reason, "ConfigMap default/one", "other.yaml:1")
			w.sends("at once")
			if w.server.Get(mapKind, "default", "two") == nil {
				t.Error("a child was pruned before everything was applied")
			}
			if w.now = w.now.Add(c.again); c.again > 0 {
				w.sends("when its time has come", applyOne)
			}
			w.server.Change(w.resource, "person", func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{api.AnnotationReconcileAt: "now"})
			})
			w.sends("when somebody asks", applyOne)
			w.server.Refuse = nil
			w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "y", "spec", "name") })
			w.sends("when it changed", applyOne, "delete configmaps default/two", applyStatus)
			w.says("when it is applied", "Ready")
		})
	}
}

// TestPanicWhileWriting: a panic of one write is a problem of this child alone, and is
// tried again.
func TestPanicWhileWriting(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "two.yaml": twoMap})
	w.server.Refuse = func(r memory.Request) *metav1.Status {
		if r.String() == applyOne {
			panic("a mistake")
		}
		return nil
	}
	w.turn()
	w.says("after the panic", "ApplyFailed", "ConfigMap default/one: applying it: panic: a string")
	if w.server.Get(mapKind, "default", "two") == nil {
		t.Error("the other child was not applied")
	}
	w.server.Refuse = nil
	w.sends("at once")
	w.now = w.now.Add(2 * longestGap)
	w.sends("when its time has come", applyOne, applyStatus)
}

// TestServiceWithoutSpec: a headless Service whose template renders no spec any more is
// refused like any other invalid content.
func TestServiceWithoutSpec(t *testing.T) {
	const text = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
	w := newWorld(t, map[string]string{"s.yaml": text + "spec: {clusterIP: None, ports: [{port: 80}]}\n"}, served(serviceKind, "services", true))
	w.settle()
	w.folder(map[string]string{"s.yaml": text})
	w.server.Refuse = refusing(answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "spec.ports: Required value"), "apply services")
	w.turn()
	w.says("when it is refused", "Invalid", "Service default/s", "spec.ports: Required value")
}

// TestRefusedByCRD: a child that was refused is sent again once the CRD of its kind
// changed, and not before.
func TestRefusedByCRD(t *testing.T) {
	w := newWorld(t, map[string]string{"widget.yaml": oneWidget}, served(widgetKind, "widgets", true))
	crd := w.server.Change(memory.Object(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.foreign.io"}}`), "installer", nil)
	w.server.Refuse = refusing(answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "spec.name: Unsupported value"), applyWidget)
	w.sends("when it is refused", applyWidget, applyStatus)
	w.says("when it is refused", "Invalid", "Widget default/w")
	w.sends("while the CRD is the same")
	w.server.Change(crd, "installer", func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) })
	w.sends("when the schema is the same")
	w.server.Change(crd, "installer", func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"preserveUnknownFields": false} })
	w.server.Refuse = nil
	w.sends("when the CRD changed", applyWidget, applyStatus)
}

// TestStatusRefusedByCRD: so it is with a status and the CRD of its resource.
func TestStatusRefusedByCRD(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "status.yaml": "phase: On\n"})
	w.server.Refuse = refusing(answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "status.phase: Unsupported value"), applyStatus)
	w.sends("when it is refused", applyOne, applyStatus)
	w.sends("at once")
	w.server.Change(w.server.Get(crdKind, "", things), "installer", func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"preserveUnknownFields": false} })
	w.sends("when the CRD changed", applyStatus)
}

// TestRetryAfter: what the API server asks to wait counts from its answer, however
// long that took.
func TestRetryAfter(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	busy := answered(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "busy")
	busy.Details.RetryAfterSeconds = 20
	w.server.Refuse = func(r memory.Request) *metav1.Status {
		if r.String() != applyOne {
			return nil
		}
		w.now = w.now.Add(10 * time.Second)
		return busy
	}
	w.sends("when it is refused", applyOne, applyStatus)
	w.server.Refuse = nil
	w.now = w.now.Add(19 * time.Second)
	w.sends("before its time")
	w.now = w.now.Add(10 * time.Second)
	w.sends("when its time has come", applyOne, applyStatus)
}

// TestLostAnswer: a child whose creation was not answered is not made twice, and is
// taken over with one request more.
func TestLostAnswer(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.late()
	w.server.Lose = func(r memory.Request) bool { return r.String() == applyOne }
	w.sends("when the answer is lost", applyOne, applyStatus)
	w.server.Lose = nil
	first := w.server.Get(mapKind, "default", "one").GetUID()
	w.now = w.now.Add(2 * time.Second)
	w.sends("when the cache is late", applyOne, "get configmaps default/one", applyOne, applyStatus)
	w.seen()
	w.settle()
	if got := w.server.Get(mapKind, "default", "one").GetUID(); got != first {
		t.Errorf("the child is %s, and was %s", got, first)
	}
	w.says("in the end", "Ready")
}

// TestTakeOver: an object that is there already becomes a child only if it says that
// it is this resource's, or its file says to adopt it, and nobody else controls it.
func TestTakeOver(t *testing.T) {
	adopting := strings.Replace(oneMap, "{name: one}", "{name: one, annotations: {"+api.AnnotationAdopt+": \"true\"}}", 1)
	for name, c := range map[string]struct {
		file, metadata string
		taken          bool
	}{
		"somebody else's":       {oneMap, ``, false},
		"it names the resource": {oneMap, `,"annotations":{"` + api.AnnotationOwner + `":"` + things + `/default/a"}`, true},
		"it names another":      {oneMap, `,"annotations":{"` + api.AnnotationOwner + `":"` + things + `/default/b"}`, false},
		"the file adopts it":    {adopting, ``, true},
		"others control it": {adopting, `,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"p","controller":true}]`,
			false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"one.yaml": c.file})
			w.server.Change(memory.Object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default"`+c.metadata+
				`},"data":{"name":"other"}}`), "person", nil)
			w.settle()
			data := w.server.Get(mapKind, "default", "one").Object["data"].(map[string]any)["name"]
			if (data == "x") != c.taken {
				t.Errorf("its data is %v", data)
			}
			w.says("in the end", map[bool]string{true: "Ready", false: api.ReasonOwnedByOthers}[c.taken])
		})
	}
}

// TestForeignIsLookedAtLessOften: somebody else's object costs one refused create and one
// read for each look, two to four of them in 30 seconds, and one status.
func TestForeignIsLookedAtLessOften(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	foreign := w.server.Change(memory.Object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default"},"data":{"name":"other"}}`), "person", nil)
	w.sends("at first", applyOne, readOne, applyStatus)
	began, looks := w.now, 1
	for last := time.Duration(0); ; looks++ {
		wait := w.requeue()
		if wait <= last {
			t.Fatalf("look %d comes after %s, and the one before after %s", looks+1, wait, last)
		}
		if w.now = w.now.Add(wait); w.now.Sub(began) > 30*time.Second {
			break
		}
		w.sends("when its time has come", applyOne, readOne)
		last = wait
	}
	if looks < 2 || looks > 4 {
		t.Errorf("%d looks in 30 s, want 2 to 4", looks)
	}
	if now := w.server.Get(mapKind, "default", "one"); now.GetResourceVersion() != foreign.GetResourceVersion() {
		t.Errorf("the foreign object is %v", now)
	}
}

// TestKeepsChildren: children that are to stay have no owner reference, are kept as they
// are and pruned as ever, and stay when the resource goes; without the annotation they
// have one again.
func TestKeepsChildren(t *testing.T) {
	files := map[string]string{"kind.yaml": nodes, "one.yaml": oneMap, "two.yaml": twoMap, "node.yaml": oneNode}
	w := newWorld(t, files)
	w.settle()
	keep := func(value string) {
		w.edit(func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{api.AnnotationOnDelete: value}) })
		w.settle()
	}
	references := func(when string, want int) {
		t.Helper()
		if one := w.server.Get(mapKind, "default", "one"); len(one.GetOwnerReferences()) != want {
			t.Errorf("%s it has %v", when, one.GetOwnerReferences())
		}
	}
	keep("keep")
	references("when it is to stay", 0)
	if found := w.server.Get(thingKind, "default", "a").GetFinalizers(); len(found) > 0 {
		t.Errorf("the resource has the finalizers %v, and there is nothing to do when it goes", found)
	}
	w.says("when they are to stay", "Ready")
	w.server.Change(w.server.Get(mapKind, "default", "one"), "other",
		func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "z", "data", "name") })
	w.sends("when a field was taken", applyOne)
	delete(files, "two.yaml")
	w.folder(files)
	w.settle()
	if w.server.Get(mapKind, "default", "two") != nil {
		t.Error("what is rendered no more is there still")
	}
	keep("")
	references("when it is to go again", 1)
	w.says("when they are to go again", "Ready")
	keep("keep")
	w.server.Delete(w.resource)
	w.settle()
	references("when the resource is gone", 0)
	if w.server.Get(nodeKind, "", "node") == nil {
		t.Error("the child that the garbage collector does not reach is gone")
	}
}

// TestFrozen: a resource that a rollout has not reached is left as it is.
func TestFrozen(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.settle()
	w.folder(map[string]string{"two.yaml": twoMap})
	w.choice.Frozen = true
	w.sends("when it is frozen")
	w.server.Delete(w.server.Get(mapKind, "default", "one"))
	w.now = w.now.Add(statusGap)
	w.sends("when its child was deleted", applyStatus)
	w.says("when its child was deleted", "ChildrenNotReady", "it is gone, and made again when the rollout")
	w.choice.Frozen = false
	w.settle()
	w.says("when it is reached", "Ready")
}

// TestUnapproved: what a rollout does not allow to be deleted stays, and says so,
// until it is allowed.
func TestUnapproved(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "two.yaml": twoMap})
	w.settle()
	w.folder(map[string]string{"one.yaml": oneMap})
	w.choice.MayDelete = func(schema.GroupKind, metav1.Object) error { return fmt.Errorf("it waits for an approval") }
	w.sends("when it may not be pruned", applyStatus)
	w.says("when it may not be pruned", api.ReasonApprovalRequired, "it waits for an approval")
	w.choice.MayDelete = nil
	w.sends("when it may", "delete configmaps default/two", applyStatus)
}

// TestDeleteOrder: children out of the garbage collector's reach are deleted one
// file after the other, and the resource goes last.
func TestDeleteOrder(t *testing.T) {
	w := newWorld(t, map[string]string{
		"one.yaml": oneNode, "two.yaml": strings.ReplaceAll(oneNode, "name: node", "name: other"),
		"kind.yaml": nodes + "deletionOrder: [two, one]\n",
	})
	w.sends("when it is new", patchThing, "apply nodes node", "apply nodes other", applyStatus)
	for _, name := range []string{"node", "other"} { // they take their time
		w.server.Change(w.server.Get(nodeKind, "", name), "kubelet", func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"k/f"}) })
	}
	gone := func(name string) {
		w.server.Change(w.server.Get(nodeKind, "", name), "kubelet", func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	}
	w.settle()
	w.server.Delete(w.resource)
	w.now = time.Now()
	w.sends("when it is deleted", patchThing, "delete nodes other")
	w.sends("while the first is there")
	gone("other")
	w.sends("when the first is gone", "delete nodes node")
	gone("node")
	w.sends("when the second is gone", patchThing)
	if w.server.Get(thingKind, "default", "a") != nil {
		t.Error("the resource is there still")
	}
	w.sends("afterwards")
}

// TestImmutable: an object that the API refuses to change is made again where its
// file allows that and the API would take the new one; else it stays.
func TestImmutable(t *testing.T) {
	replaced := strings.Replace(oneMap, "{name: one}", "{name: one, annotations: {"+api.AnnotationOnImmutable+": recreate}}", 1)
	immutable := answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "data.name: Invalid value: field is immutable")
	for name, c := range map[string]struct {
		file  string
		probe *metav1.Status
		may   error
		want  []string
		says  string
	}{
		"the file does not say so": {file: oneMap, want: []string{applyOne, "PROBE", readOne, applyStatus}, says: "Invalid"},
		"the file says so": {file: replaced, want: []string{applyOne, "PROBE", readOne, "delete configmaps default/one", applyStatus},
			says: api.ReasonRecreating},
		"the new one is refused": {file: replaced, probe: immutable, want: []string{applyOne, "PROBE", readOne, applyStatus}, says: "Invalid"},
		"a rollout does not allow": {file: replaced, may: fmt.Errorf("not yet"), want: []string{applyOne, "PROBE", readOne, applyStatus},
			says: api.ReasonApprovalRequired},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"one.yaml": c.file})
			w.settle()
			if c.may != nil {
				w.choice.MayDelete = func(schema.GroupKind, metav1.Object) error { return c.may }
			}
			w.server.Refuse = func(r memory.Request) *metav1.Status {
				switch {
				case r.Verb == "apply" && r.Resource == "configmaps" && r.DryRun:
					return c.probe
				case r.String() == applyOne:
					return immutable
				}
				return nil
			}
			w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "y", "spec", "name") })
			var got []string
			for _, r := range w.turn() {
				if strings.HasSuffix(r, "(dry run)") {
					r = "PROBE"
				}
				got = append(got, r)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("it sends %q, want %q", got, c.want)
			}
			w.says("when it is refused", c.says)
		})
	}
}

// TestReadOnlyAndPaused: nothing of a resource is changed while it, or the operator,
// is to look alone.
func TestReadOnlyAndPaused(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.r.cluster.ReadOnly = true
	w.sends("when the operator is read-only")
	if told := <-w.events.Events; !strings.Contains(told, "create 1") || w.r.Pending() != 1 {
		t.Errorf("it tells %q of %d", told, w.r.Pending())
	}
	w.r.cluster.ReadOnly = false
	w.settle()
	w.edit(func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{api.AnnotationPaused: "true"})
		_ = unstructured.SetNestedField(o.Object, "y", "spec", "name")
	})
	w.sends("when it is paused", applyStatus)
	w.edit(func(o *unstructured.Unstructured) { o.SetAnnotations(nil) })
	w.sends("when it goes on", applyOne, applyStatus)
}

// TestHasAPI: while a CRD defines a kind that the API server does not show, a file
// that asks for it waits, and what it made stays.
func TestHasAPI(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": "{{- if not (hasAPI \"example.org/v1\" \"Gizmo\") }}\n" + oneMap + "{{- end }}\n"})
	w.settle()
	served := w.r.cluster.Served
	w.r.cluster.Served = func() *cluster.Served {
		return served().Promising([]schema.GroupVersionKind{{Group: "example.org", Version: "v1", Kind: "Gizmo"}})
	}
	w.sends("while it cannot be told", applyStatus)
	w.says("while it cannot be told", "Waiting", "cannot tell whether it has example.org/v1 Gizmo")
	if w.server.Get(mapKind, "default", "one") == nil {
		t.Error("the child is gone")
	}
}

// TestProgress: progress alone is said at most every statusGap, a change of what
// holds at once.
func TestProgress(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		files[name+".yaml"] = strings.Replace(plainJob, "NAME", name, 1)
	}
	w := newWorld(t, files)
	w.settle()
	w.completes("a")
	w.sends("long after the last status", applyStatus)
	w.completes("b")
	w.sends("when one more is done at once")
	w.now = w.now.Add(statusGap)
	w.sends("when its time has come", applyStatus)
	w.completes("c")
	w.sends("when all are done at once", applyStatus)
	w.says("when all are done", "Ready")
}

// told are the events since the last look.
func (w *world) told() (all []string) {
	for len(w.events.Events) > 0 {
		all = append(all, <-w.events.Events)
	}
	return all
}

// TestEvents: the way of a resource to Ready is no event, unless all are asked for;
// trouble is one, and so is its end, and what is deleted.
func TestEvents(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "two.yaml": twoMap})
	expect := func(when string, events ...string) {
		t.Helper()
		w.settle()
		got := w.told()
		if len(got) != len(events) {
			t.Fatalf("%s: events %q, want %q", when, got, events)
		}
		for i, want := range events {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: event %q, want %q…", when, got[i], want)
			}
		}
	}
	named := func(name string) func(*unstructured.Unstructured) {
		return func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, name, "spec", "name") }
	}
	expect("when it is new")
	w.edit(named("y"))
	expect("when it is edited")
	w.folder(map[string]string{"one.yaml": oneMap})
	expect("when a child is not rendered any more", "Normal Pruned not rendered any more, and deleted: ConfigMap default/two")
	w.folder(map[string]string{"one.yaml": oneMap, "bad.yaml": "{{ if eq .spec.name \"bad\" }}{{ fail \"not so\" }}{{ end }}"})
	w.edit(named("bad"))
	expect("when it cannot be rendered", "Warning RejectedByTemplate Ready is False")
	w.edit(named("good"))
	expect("when it can again", "Normal Ready Ready is True")
	w = newWorld(t, map[string]string{"one.yaml": oneMap})
	w.r.cluster.AllEvents = true
	expect("when all are told", "Normal Ready Ready is True")
}

// TestMisspelt: an annotation of ours that does nothing on a resource is said in a
// condition and as an event.
func TestMisspelt(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap})
	w.settle()
	w.edit(func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{"jacquard.dev/pasued": "true"}) })
	w.sends("when one is misspelt", applyStatus)
	if got := fmt.Sprint(w.server.Get(thingKind, "default", "a").Object["status"]); !strings.Contains(got, "is jacquard.dev/paused meant?") {
		t.Errorf("the status says %s", got)
	}
	told := ""
	for len(w.events.Events) > 0 {
		told += <-w.events.Events
	}
	if !strings.Contains(told, "pasued") {
		t.Errorf("the events are %q", told)
	}
}

// TestStatusRefused: a status that the API refuses for its content is said without
// the kind's own fields, and not sent again and again.
func TestStatusRefused(t *testing.T) {
	w := newWorld(t, map[string]string{"one.yaml": oneMap, "status.yaml": "phase: {{ .spec.name }}\n"})
	w.settle()
	if got := w.server.Get(thingKind, "default", "a").Object["status"].(map[string]any)["phase"]; got != "x" {
		t.Errorf("phase is %v", got)
	}
	refused := false
	w.server.Refuse = func(r memory.Request) *metav1.Status {
		if r.String() != applyStatus || refused {
			return nil
		}
		refused = true
		return answered(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "status.phase: Invalid value")
	}
	w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, "y", "spec", "name") })
	w.sends("when it is refused", applyOne, applyStatus, applyStatus)
	w.says("when it is refused", "StatusInvalid")
}
