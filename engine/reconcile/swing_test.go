package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestSwings: a folder that reads what it writes, or what a controller copies of that, is
// found out and reported with file and field, be it a child or the status. It is written
// less and less often; another generation heals it.
func TestSwings(t *testing.T) {
	const swing = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: swing}\ndata:\n  sum: "
	const flips = `{{ if and (ne .spec.name "still") (eq ((lookup "v1" "ConfigMap" "" "copy").data.said | default "Tick") "Tick") }}Tock{{ else }}Tick{{ end }}`
	conditions := func(reason string) string {
		return "conditions:\n- {type: Said, status: \"True\", reason: " + reason + "}\n"
	}
	for name, c := range map[string]struct {
		files map[string]string
		// said is what a controller copies; nil: nothing.
		said    func(w *world) any
		because string
	}{
		"a child that is in itself": {files: map[string]string{"swing.yaml": swing +
			`"{{ if ne .spec.name "still" }}{{ child "swing" | toJson | sha256sum }}{{ end }}"` + "\n"}, because: "swing.yaml"},
		"a status that is in itself": {files: map[string]string{"one.yaml": oneMap, "status.yaml": conditions(
			`"{{ if ne .spec.name "still" }}S{{ .status | toJson | sha256sum }}{{ else }}None{{ end }}"`)}, because: "reason changes again"},
		"a child that is copied": {files: map[string]string{"swing.yaml": swing + flips + "\n"}, because: "swing.yaml",
			said: func(w *world) any {
				said, _, _ := unstructured.NestedString(w.server.Get(mapKind, "default", "swing").Object, "data", "sum")
				return said
			}},
		"a status that is copied": {files: map[string]string{"one.yaml": oneMap, "status.yaml": conditions(flips)}, because: "reason changes again",
			said: func(w *world) any {
				return status.Condition(w.server.Get(thingKind, "default", "a").Object, "Said")["reason"]
			}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.files)
			writes := 0
			for end := w.now.Add(2 * time.Minute); w.now.Before(end); w.now = w.now.Add(time.Second) {
				writes += len(w.turn())
				if status.Condition(w.server.Get(thingKind, "default", "a").Object, "Stalled")["reason"] == "Oscillating" {
					break
				}
				if c.said != nil {
					w.server.Apply(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
						"metadata": map[string]any{"name": "copy", "namespace": "default"}, "data": map[string]any{"said": c.said(w)}}}, "copier")
				}
			}
			w.says("after a while", "Oscillating", c.because)
			if writes > 40 {
				t.Errorf("%d requests until it is found out", writes)
			}
			w.edit(func(o *unstructured.Unstructured) { o.Object["spec"] = map[string]any{"name": "still"} })
			for range 12 {
				w.turn()
				w.now = w.now.Add(time.Second)
			}
			w.says("when it is healed", "Ready")
		})
	}
}
