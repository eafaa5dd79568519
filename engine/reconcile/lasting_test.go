package reconcile

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/status"
)

const (
	oneWidget   = "apiVersion: foreign.io/v1\nkind: Widget\nmetadata: {name: w}\nspec: {name: {{ .spec.name }}}\n"
	applyWidget = "apply widgets default/w"
	widgetRules = "apiVersion: jacquard.dev/v1alpha1\nkind: KindSettings\nhealthCheckExprs:\n- apiVersion: foreign.io/v1\n  kind: Widget\n" +
		"  failed: status.phase == 'Broken'\n  current: status.phase == 'Done'\n"
)

// newWidgets is a world whose CRD of Widgets declares conditions.
func newWidgets(t *testing.T, files map[string]string) *world {
	w := newWorld(t, files, served(widgetKind, "widgets", true))
	w.r.cluster.DeclaresConditions = func(gk schema.GroupKind) bool { return gk == widgetKind.GroupKind() }
	return w
}

// after lets time pass and reconciles until nothing is sent.
func (w *world) after(d time.Duration) {
	w.Helper()
	w.now = w.now.Add(d)
	for range 9 {
		if len(w.turn()) == 0 {
			return
		}
	}
	w.Fatal("it does not come to rest")
}

// widget compares what the status says of the Widget.
func (w *world) widget(when string, ready bool, message string) {
	w.Helper()
	w.listReported(when, "Widget", ready, message)
}

// listReported compares what the status says of the only child of a kind.
func (w *world) listReported(when, kind string, ready bool, message string) {
	w.Helper()
	children, _, _ := unstructured.NestedSlice(w.server.Get(thingKind, "default", "a").Object, "status", "children")
	for _, item := range children {
		if c := item.(map[string]any); c["kind"] == kind {
			if got, _ := c["message"].(string); c["ready"] != ready || got != message {
				w.Errorf("%s the status has %v, want ready: %v, message: %q", when, c, ready, message)
			}
			return
		}
	}
	w.Errorf("%s the status has no %s: %v", when, kind, children)
}

// reports lets the Widget's controller write a status.
func (w *world) reports(phase string) {
	w.server.Change(w.server.Get(widgetKind, "default", "w"), "widget-controller", func(o *unstructured.Unstructured) {
		o.Object["status"] = map[string]any{"phase": phase, "message": "it is " + phase}
	})
}

// keepsStatus reconciles once, and fails if that writes the status.
func (w *world) keepsStatus(when string) {
	w.Helper()
	if sent := w.turn(); slices.Contains(sent, applyStatus) {
		w.Errorf("%s it sends %s", when, strings.Join(sent, ", "))
	}
}

// TestChildWithoutConditions: what has none although its CRD declares some is waited for
// for a minute of this process, and then counts as ready. A later process takes the
// status at its word, and another object of that name is waited for again.
func TestChildWithoutConditions(t *testing.T) {
	const waits, silent = "it has no conditions yet", "health not known: it reports nothing"
	w := newWidgets(t, map[string]string{"widget.yaml": oneWidget, "one.yaml": "{{- $_ := await \"widget\" }}\n" + oneMap})
	w.after(0)
	w.widget("when it is new", false, waits)
	w.has("when it is new", false)
	w.after(50 * time.Second)
	w.restart()
	w.after(20 * time.Second)
	w.widget("when another process sees it first", false, waits)
	w.after(59 * time.Second)
	w.widget("after less than a minute of this process", false, waits)
	w.after(time.Second)
	w.widget("after a minute", true, silent)
	w.has("after a minute", true)
	w.says("after a minute", "Ready", "2 children are ready; of 1 the health is not known")
	w.sends("at rest")
	w.restart()
	w.keepsStatus("after a restart")

	w.server.Delete(w.server.Get(widgetKind, "default", "w"))
	w.after(0)
	w.widget("when it was made again", false, waits)
	w.after(60 * time.Second)
	w.widget("a minute after it was made again", true, silent)
}

// TestFailingChild: what fails by its health expression is not ready at once, and the
// resource is stalled once that has lasted for a minute, also for a later process.
func TestFailingChild(t *testing.T) {
	w := newWidgets(t, map[string]string{"kind.yaml": widgetRules, "widget.yaml": oneWidget})
	w.after(0)
	w.reports("Done")
	w.after(0)
	w.says("when all is well", "Ready")
	w.reports("Broken")
	w.after(0)
	w.widget("when it fails", false, "it is Broken")
	w.says("when it fails", "ChildrenNotReady", "Widget w: it is Broken")
	w.after(40 * time.Second)
	w.reports("Busy")
	w.after(0)
	w.reports("Broken")
	w.after(59 * time.Second)
	w.after(59 * time.Second)
	w.says("before it has failed for a minute without a break", "ChildrenNotReady")
	w.after(time.Second)
	w.says("after a minute", "ChildFailed", "Widget w: it is Broken")
	w.sends("at rest")
	w.restart()
	w.keepsStatus("after a restart")
	w.reports("Done")
	w.after(0)
	w.says("when all is well again", "Ready")
}

// TestFailingChildAfterRestart: of what had not failed for a minute yet, a later process
// begins to count anew.
func TestFailingChildAfterRestart(t *testing.T) {
	w := newWidgets(t, map[string]string{"kind.yaml": widgetRules, "widget.yaml": oneWidget})
	w.after(0)
	w.reports("Broken")
	w.after(0)
	w.after(50 * time.Second)
	w.restart()
	w.after(10 * time.Second)
	w.says("a minute after it failed, of which this process saw nothing", "ChildrenNotReady")
	w.after(60 * time.Second)
	w.says("after a minute of this process", "ChildFailed")
}

// TestWakesForHealth: a reconciliation asks for another one when a temporary state will
// have lasted.
func TestWakesForHealth(t *testing.T) {
	w := newWidgets(t, map[string]string{"widget.yaml": oneWidget})
	w.after(0)
	w.now = w.now.Add(45 * time.Second)
	if got := w.requeue(); got != 15*time.Second {
		t.Errorf("it looks again after %s, want 15 s", got)
	}
	w.after(15 * time.Second)
	if got := w.requeue(); got != 0 {
		t.Errorf("once it is ready it looks again after %s", got)
	}
}

// TestDeletionIgnoresHealth: what a resource that goes waits for is that objects are
// gone; whether they are well is not looked at, and decides nothing.
func TestDeletionIgnoresHealth(t *testing.T) {
	w := newWidgets(t, map[string]string{"kind.yaml": widgetRules + "deletionOrder: [one, widget]\n", "widget.yaml": oneWidget, "one.yaml": oneMap})
	w.after(0)
	w.reports("Broken")
	w.after(0)
	w.after(time.Minute)
	w.says("before it goes", "ChildFailed")
	w.server.Change(w.server.Get(mapKind, "default", "one"), "other", func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"other.io/f"}) })
	w.server.Delete(w.server.Get(thingKind, "default", "a"))
	w.r.cluster.DeclaresConditions = func(gk schema.GroupKind) bool {
		t.Errorf("the health of a %s is asked for", gk.Kind)
		return true
	}
	w.sends("when it goes", patchThing, "delete configmaps default/one")
	w.now = w.now.Add(5 * time.Second)
	w.sends("when that takes long", applyStatus)
	w.says("while the first is going", "Deleting", "ConfigMap")
	w.widget("while the first is going", false, "still there")
	if c := status.Condition(w.server.Get(thingKind, "default", "a").Object, "Stalled"); c != nil {
		t.Errorf("a resource that goes is stalled: %v", c)
	}
	w.server.Change(w.server.Get(mapKind, "default", "one"), "other", func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	w.now = w.now.Add(statusGap)
	w.sends("when the first is gone", "delete widgets default/w", applyStatus)
	w.after(0)
	if o := w.server.Get(thingKind, "default", "a"); o != nil {
		t.Errorf("it stays, with %v", o.GetFinalizers())
	}
}
