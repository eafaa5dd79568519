package reconcile

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// foreign are kinds of other projects, whose CRDs declare conditions.
var (
	applicationKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}
	bucketKind      = schema.GroupVersionKind{Group: "s3.services.k8s.aws", Version: "v1alpha1", Kind: "Bucket"}
	virtualKind     = schema.GroupVersionKind{Group: "networking.istio.io", Version: "v1", Kind: "VirtualService"}
)

// TestForeignHealth: whether a child of another project's kind is ready, and may be
// awaited, is decided by the built-in entry for its kind, or by an author's.
func TestForeignHealth(t *testing.T) {
	const onlyHealth = "healthCheckExprs:\n- apiVersion: argoproj.io/v1alpha1\n  kind: Application\n" +
		"  failed: status.health.status == 'Degraded'\n  current: status.health.status == 'Healthy'\n"
	for name, c := range map[string]struct {
		kind    schema.GroupVersionKind
		own     string // kind.yaml
		status  string // JSON
		ready   bool
		message string
	}{
		"Application, new": {applicationKind, "", ``, false, "it has no status yet"},
		"Application, synced and healthy": {applicationKind, "",
			`{"health":{"status":"Healthy"},"sync":{"status":"Synced"}}`, true, ""},
		"Application, degraded": {applicationKind, "",
			`{"health":{"status":"Degraded"},"sync":{"status":"OutOfSync"},"conditions":[{"type":"SyncError","message":"one or more objects failed to apply"}]}`,
			false, "sync OutOfSync, health Degraded; SyncError: one or more objects failed to apply"},
		"Application, out of sync":                     {applicationKind, "", `{"health":{"status":"Healthy"},"sync":{"status":"OutOfSync"}}`, false, "sync OutOfSync, health Healthy"},
		"Application, out of sync, the author's entry": {applicationKind, onlyHealth, `{"health":{"status":"Healthy"},"sync":{"status":"OutOfSync"}}`, true, ""},
		"Bucket, new": {bucketKind, "", ``, false, "it has no status yet"},
		"Bucket, terminal": {bucketKind, "",
			`{"conditions":[{"type":"ACK.Terminal","status":"True","message":"access denied"},{"type":"ACK.ResourceSynced","status":"False"}]}`,
			false, "access denied"},
		"Bucket, synced":                  {bucketKind, "", `{"conditions":[{"type":"ACK.ResourceSynced","status":"True"}]}`, true, ""},
		"VirtualService, without status":  {virtualKind, "", ``, true, ""},
		"VirtualService, analysis failed": {virtualKind, "", `{"conditions":[{"type":"PassedAnalysis","status":"False","message":"no such gateway"}]}`, false, "no such gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"foreign.yaml": "apiVersion: " + c.kind.GroupVersion().String() + "\nkind: " + c.kind.Kind + "\nmetadata: {name: x}\n",
				"one.yaml": "{{- $_ := await \"foreign\" }}\n" + oneMap}
			if c.own != "" {
				files["kind.yaml"] = c.own
			}
			w := newWorld(t, files)
			w.r.cluster.DeclaresConditions = func(gk schema.GroupKind) bool { return gk == c.kind.GroupKind() }
			w.settle()
			if c.status != "" {
				var status map[string]any
				if err := json.Unmarshal([]byte(c.status), &status); err != nil {
					t.Fatal(err)
				}
				w.server.Change(w.server.Get(c.kind, "default", "x"), "its-controller", func(o *unstructured.Unstructured) { o.Object["status"] = status })
			}
			w.settle()
			switch {
			case c.kind == virtualKind: // it was ready before it had a status
				w.has("once its status is written", true)
			case c.ready:
				w.has("once its status is written", true)
				w.says("once its status is written", "Ready")
			default:
				w.has("once its status is written", false)
				w.says("once its status is written", "Waiting", "one: foreign: "+c.kind.Kind+" x is not ready: ")
			}
			o := w.server.Get(thingKind, "default", "a")
			told, _, _ := unstructured.NestedSlice(o.Object, "status", "children")
			for _, child := range told {
				if m := child.(map[string]any); m["kind"] == c.kind.Kind && (m["ready"] != c.ready || m["message"] != c.message && !c.ready) {
					t.Errorf("the status says %v, want %v %s", m, c.ready, c.message)
				}
			}
		})
	}
}
