package reconcile

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/memory"
)

func noCRD(string) metav1.Object { return nil }

// TestNamedForTenMinutes: a patch that cannot be released is named, at every
// look, for ten minutes, and the resource is looked at again when they are over;
// then it is let go, with one event.
func TestNamedForTenMinutes(t *testing.T) {
	now, told := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), events.NewFakeRecorder(9)
	resource := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Web",
		"metadata": map[string]any{"name": "r"}}}
	r := &Reconciler{now: func() time.Time { return now }, cluster: Cluster{Events: told, Caches: observe.Caches{CRD: noCRD}}}
	theirs := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "theirs"}}
	back := plan.Release{Live: live.Object{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Service"}, Meta: theirs}}
	known := newMemory(resource)
	at := &plan.Attempt{Refused: &plan.RefusedRelease{Release: back, At: now, IsDropped: true},
		Problem: status.Problem{Severity: status.Waiting, Reason: api.ReasonReleaseFailed, Message: "no ports"}}
	known.attempts[back.Key()] = at
	for _, passed := range []time.Duration{0, time.Minute, 9 * time.Minute, 10*time.Minute - time.Second} {
		turn := r.newReconciliation(resource, Choice{Version: &observe.Version{}}, known)
		now = at.Refused.At.Add(passed)
		turn.reportPrunes(&plan.Plan{IsRendered: true})
		if len(turn.found.problems) != 1 || turn.found.problems[0].Message != "no ports" {
			t.Fatalf("after %s it is not named: %v", passed, turn.found.problems)
		}
		if want := 10*time.Minute - passed; turn.found.requeue != want {
			t.Errorf("after %s it is looked at again in %s, want %s", passed, turn.found.requeue, want)
		}
	}
	now = now.Add(time.Second)
	for range 2 {
		turn := r.newReconciliation(resource, Choice{Version: &observe.Version{}}, known)
		turn.reportPrunes(&plan.Plan{IsRendered: true})
		if len(turn.found.problems) > 0 || turn.found.requeue > 0 {
			t.Errorf("after ten minutes it is named still: %v", turn.found.problems)
		}
	}
	if got := len(told.Events); got != 1 {
		t.Fatalf("%d events, want 1", got)
	}
	if got, want := <-told.Events, "Warning ReleaseFailed the fields of Service ns/theirs stay as they are: no ports"; got != want {
		t.Errorf("the event says %q, want %q", got, want)
	}
}

const (
	namedMap   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"one-{{ .spec.name }}\"}\ndata: {name: {{ .spec.name }}}\n"
	deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec: {replicas: 1, template: {spec: {containers: [{name: main, image: i, envFrom: [{configMapRef: {name: "one-{{ .spec.name }}"}}]}]}}}
`
)

// names changes the spec of the thing.
func (w *world) names(name string) {
	w.edit(func(o *unstructured.Unstructured) { _ = unstructured.SetNestedField(o.Object, name, "spec", "name") })
}

// rollsOut makes the Deployment ready in its present generation.
func (w *world) rollsOut() {
	w.server.Change(w.server.Get(deploymentKind, "default", "app"), "deployment-controller", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"observedGeneration": o.GetGeneration(), "replicas": int64(1), "updatedReplicas": int64(1),
			"readyReplicas": int64(1), "availableReplicas": int64(1), "conditions": []any{map[string]any{"type": "Available", "status": "True"}}}
	})
}

// TestPruneOfReplacedChild: a ConfigMap whose file renders another one now stays until the
// resource is ready with that, since Pods of the old version use it.
func TestPruneOfReplacedChild(t *testing.T) {
	w := newWorld(t, map[string]string{"map.yaml": namedMap, "app.yaml": deployment})
	w.settle()
	w.rollsOut()
	w.settle()
	w.says("when it is rolled out", "Ready")
	w.names("y")
	w.sends("when it is edited", "apply configmaps default/one-y", "apply deployments default/app", applyStatus)
	w.sends("while it is not rolled out")
	w.names("z")
	w.sends("when it is edited again", "apply configmaps default/one-z", "apply deployments default/app", applyStatus)
	w.restart()
	w.settle()
	if w.server.Get(mapKind, "default", "one-x") == nil || w.server.Get(mapKind, "default", "one-y") == nil {
		t.Error("after a restart one is gone that Pods use")
	}
	w.rollsOut()
	w.sends("when it is rolled out again", applyStatus)
	w.says("when it is rolled out again", "Ready")
	w.sends("when it is ready", "delete configmaps default/one-x", "delete configmaps default/one-y")
	w.sends("at rest")
}

// TestPruneOfReplacedChildNeedsReady: whatever else keeps the resource from being ready
// keeps the ConfigMap, and the resource may allow its deletion.
func TestPruneOfReplacedChildNeedsReady(t *testing.T) {
	files := map[string]string{"map.yaml": namedMap, "status.yaml": "conditions: [{type: Ready, status: \"False\", reason: Waits, message: not yet}]\n"}
	w := newWorld(t, files)
	w.settle()
	w.names("y")
	w.settle()
	old := w.server.Get(mapKind, "default", "one-x")
	if old == nil {
		t.Fatal("it is gone before the resource is ready")
	}
	w.edit(func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{api.AnnotationAllowPrune: "ConfigMap/default/one-x/" + string(old.GetUID())})
	})
	w.sends("when the resource allows it", "delete configmaps default/one-x", applyStatus)
}

// TestPruneOfOtherKinds: what is not a ConfigMap or Secret, or what its file does not
// render any more at all, is deleted once everything is applied.
func TestPruneOfOtherKinds(t *testing.T) {
	job := strings.Replace(plainJob, "NAME", `"one-{{ .spec.name }}"`, 1)
	w := newWorld(t, map[string]string{"job.yaml": job, "map.yaml": "{{ if eq .spec.name \"x\" }}\n" + oneMap + "{{ end }}\n"})
	w.settle()
	w.names("y")
	w.sends("when it is edited", "apply jobs default/one-y", deleteOne, "delete jobs default/one-x", applyStatus)
}

// TestPruneOfReplacedChildCounts: its deletion needs the approval of the rollout that
// replaces it, before the resource is ready.
func TestPruneOfReplacedChildCounts(t *testing.T) {
	w := newWorld(t, map[string]string{"map.yaml": namedMap, "app.yaml": deployment})
	w.settle()
	w.rollsOut()
	w.settle()
	w.folder(map[string]string{"map.yaml": strings.ReplaceAll(namedMap, "one-", "two-"), "app.yaml": strings.ReplaceAll(deployment, "one-", "two-")})
	w.choice.MayDelete = func(schema.GroupKind, metav1.Object) error { return errors.New("it waits for an approval") }
	w.sends("when it is not approved", "apply configmaps default/two-x", "apply deployments default/app", applyStatus)
	w.says("when it is not approved", api.ReasonApprovalRequired)
	w.choice.MayDelete = func(schema.GroupKind, metav1.Object) error { return nil }
	w.rollsOut()
	w.settle()
	w.says("when it is approved and rolled out", "Ready")
	if w.server.Get(mapKind, "default", "one-x") != nil {
		t.Error("it is there still")
	}
}

// TestAllowPrune: the text that the status prints allows one deletion of one object. It may
// stand there for ever, and is then named as ignored, as is what names no single object.
func TestAllowPrune(t *testing.T) {
	with := map[string]string{"one.yaml": oneMap, "secret.yaml": drawnSecret}
	without := map[string]string{"one.yaml": oneMap}
	w := newWorld(t, with)
	allow := func(text string) {
		w.edit(func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{api.AnnotationAllowPrune: text})
		})
		w.settle()
	}
	ignored := func(when, want string) {
		t.Helper()
		message, _ := status.Condition(w.server.Get(thingKind, "default", "a").Object, "AnnotationsIgnored")["message"].(string)
		if message != want {
			t.Errorf("%s: AnnotationsIgnored says %q, want %q", when, message, want)
		}
	}
	w.settle()
	w.folder(without)
	w.settle()
	allowance := "Secret/default/drawn/" + string(w.server.Get(secretKind, "default", "drawn").GetUID())
	w.says("when it is not rendered", api.ReasonPruneBlocked, api.AnnotationAllowPrune+"="+allowance)
	for _, other := range []string{"Secret/drawn", "Secret/default/drawn", "Secret/default/drawn/other", "ConfigMap/default/drawn/uid", "Secret/else/drawn/uid"} {
		allow(other)
		w.says("when it is allowed as "+other, api.ReasonPruneBlocked)
	}
	allow("Secret/drawn")
	ignored("in the old form", api.AnnotationAllowPrune+": Secret/drawn does nothing: an entry is KIND[.GROUP]/[NAMESPACE/]NAME/UID, as the status prints it")
	allow("Secret/default/gone/12345678, " + allowance)
	if w.server.Get(secretKind, "default", "drawn") != nil {
		t.Error("it is there although it was allowed to go")
	}
	w.says("when it is gone", "Ready")
	ignored("when it is gone", api.AnnotationAllowPrune+": "+allowance+" does nothing: it names no child, or one that is gone; "+
		api.AnnotationAllowPrune+": Secret/default/gone/12345678 does nothing: it names no child, or one that is gone")
	if got := w.server.Get(thingKind, "default", "a").GetAnnotations()[api.AnnotationAllowPrune]; got != "Secret/default/gone/12345678, "+allowance {
		t.Errorf("the annotation is %q", got)
	}
	w.folder(with)
	w.settle()
	w.folder(without)
	w.settle()
	w.says("when the next one is not rendered", api.ReasonPruneBlocked)
}

// TestRefusedPrune: a deletion that is refused is sent again, but no sooner than the API
// server asked for, and the status does not change meanwhile.
func TestRefusedPrune(t *testing.T) {
	w := newWorld(t, map[string]string{"map.yaml": namedMap})
	w.settle()
	busy := answered(429, metav1.StatusReasonTooManyRequests, "busy")
	busy.Details = &metav1.StatusDetails{RetryAfterSeconds: 20}
	w.server.Refuse = refusing(busy, "delete")
	w.names("y")
	w.sends("when it is edited", "apply configmaps default/one-y", applyStatus)
	w.sends("when it is ready", "delete configmaps default/one-x", applyStatus)
	w.says("when it is refused", "PruneFailed", "busy")
	w.sends("while the server is busy")
	w.now = w.now.Add(19 * time.Second)
	w.sends("while the server is still busy")
	w.server.Refuse = nil
	w.now = w.now.Add(time.Minute)
	w.sends("later", "delete configmaps default/one-x", applyStatus)
	w.says("later", "Ready")
	w.sends("at rest")
}

// TestReleaseTimesOut: a deletion goes on whenever its ten minutes for a patch that cannot be
// released end, also while a request is under way.
func TestReleaseTimesOut(t *testing.T) {
	patch := strings.Replace(oneMap, "{name: one}", "{name: one, annotations: {"+api.AnnotationOwnership+": patch}}", 1)
	denied := answered(403, metav1.StatusReasonForbidden, `admission webhook "w.example.com" denied the request: not today`)
	for seconds := range 20 {
		w := newWorld(t, map[string]string{"one.yaml": patch})
		w.server.Change(memory.Object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one","namespace":"default"},"data":{"other":"z"}}`), "person", nil)
		w.settle()
		w.server.Delete(w.resource)
		w.server.Refuse = func(r memory.Request) *metav1.Status {
			if !strings.Contains(r.String(), "configmaps default/one") {
				return nil
			}
			w.now = w.now.Add(time.Duration(seconds) * time.Second)
			return denied
		}
		for range 100 {
			wait := w.requeue()
			if w.server.Get(thingKind, "default", "a") == nil {
				break
			}
			if wait == 0 {
				t.Fatalf("with requests of %d s, the deletion stops", seconds)
			}
			w.now = w.now.Add(wait)
		}
		if w.server.Get(thingKind, "default", "a") != nil {
			t.Errorf("with requests of %d s, the resource stays", seconds)
		}
	}
}
