package apiserver_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/author/apiserver"
)

func TestDefault(t *testing.T) {
	tests := []struct{ name, kind, in, want string }{
		{"nested", webapps, `{spec: {image: a}}`,
			`{spec: {image: a, replicas: 2, maxReplicas: 10, probe: {path: /healthz, period: 10}}}`},
		{"given values stay", webapps, `{spec: {image: a, replicas: 0, maxReplicas: 1, probe: {path: ""}}}`,
			`{spec: {image: a, replicas: 0, maxReplicas: 1, probe: {path: "", period: 10}}}`},
		{"list items", webapps,
			`{spec: {replicas: 1, maxReplicas: 1, probe: {path: /, period: 1}, ports: [{name: a}, {name: b, protocol: UDP}]}}`,
			`{spec: {replicas: 1, maxReplicas: 1, probe: {path: /, period: 1}, ports: [{name: a, protocol: TCP}, {name: b, protocol: UDP}]}}`},
		{"nulls", webapps, `{spec: {replicas: null, tier: null, maxReplicas: 1, probe: {path: /, period: 1}}}`,
			`{spec: {replicas: 2, maxReplicas: 1, probe: {path: /, period: 1}}}`},
		{"nullable", backups, `{spec: {note: null}}`, `{spec: {note: null, mode: full}}`},
		{"no parent, no default", backups, `{metadata: {name: a}}`, `{metadata: {name: a}}`},
		{"lists in free maps", zones, `{spec: {records: {a: [{address: x}]}}}`, `{spec: {records: {a: [{address: x, ttl: 300}]}}}`},
		{"free-form", blobs, `{a: {b: 1}}`, `{a: {b: 1}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := object(t, tt.in)
			apiserver.Default(storage(t, tt.kind), got)
			if diff := cmp.Diff(object(t, tt.want), got); diff != "" {
				t.Errorf("defaulted (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefaultCopies: what one object is given is not shared with the next.
func TestDefaultCopies(t *testing.T) {
	v := storage(t, webapps)
	for range 2 {
		obj := object(t, `{spec: {image: a}}`)
		apiserver.Default(v, obj)
		probe := obj["spec"].(map[string]any)["probe"].(map[string]any)
		if probe["path"] != "/healthz" {
			t.Fatalf("got path %v", probe["path"])
		}
		probe["path"] = "spoilt"
	}
}

// TestFindUnknown: it names what pruning would drop, and leaves the object as it is.
func TestFindUnknown(t *testing.T) {
	in := `{spec: {imagee: a, ports: [{name: a}, {name: b, hostPort: 1}], env: {anything: x}}, zzz: 1, metadata: {name: a, label: {b: c}}}`
	obj := object(t, in)
	want := []string{"metadata.label", "spec.imagee", "spec.ports[1].hostPort", "zzz"}
	if diff := cmp.Diff(want, apiserver.FindUnknown(storage(t, webapps), obj)); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(object(t, in), obj); diff != "" {
		t.Errorf("FindUnknown changed the object:\n%s", diff)
	}
	if got := apiserver.FindUnknown(storage(t, webapps), nil); got != nil {
		t.Errorf("FindUnknown(nil) = %v", got)
	}
	apiserver.Default(storage(t, webapps), nil)
}
