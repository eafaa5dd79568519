package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
			storage(t, tt.kind).Default(got)
			if diff := cmp.Diff(object(t, tt.want), got); diff != "" {
				t.Errorf("defaulted (-want +got):\n%s", diff)
			}
		})
	}
}

// What one object is given must not be shared with the next.
func TestDefaultCopies(t *testing.T) {
	v := storage(t, webapps)
	for range 2 {
		obj := object(t, `{spec: {image: a}}`)
		v.Default(obj)
		probe := obj["spec"].(map[string]any)["probe"].(map[string]any)
		if probe["path"] != "/healthz" {
			t.Fatalf("got path %v", probe["path"])
		}
		probe["path"] = "spoilt"
	}
}

func TestPruneAndUnknown(t *testing.T) {
	tests := []struct {
		name, kind, in, want string
		paths                []string
	}{
		{"nothing", webapps, `{apiVersion: a, kind: b, metadata: {name: c, labels: {x: y}}, spec: {image: a}}`,
			`{apiVersion: a, kind: b, metadata: {name: c, labels: {x: y}}, spec: {image: a}}`, nil},
		{"fields", webapps, `{spec: {imagee: a, ports: [{name: a}, {name: b, hostPort: 1}], env: {anything: x}}, zzz: 1, data: {a: b}}`,
			`{spec: {ports: [{name: a}, {name: b}], env: {anything: x}}}`,
			[]string{"data", "spec.imagee", "spec.ports[1].hostPort", "zzz"}},
		{"metadata", webapps, `{metadata: {name: a, label: {b: c}, ownerReferences: [{nam: x}]}}`,
			`{metadata: {name: a, ownerReferences: [{apiVersion: "", kind: "", name: "", uid: ""}]}}`,
			[]string{"metadata.label", "metadata.ownerReferences[0].nam"}},
		{"malformed metadata", webapps, `{metadata: {labels: 1, label: 2}}`, `{metadata: {labels: 1, label: 2}}`, nil},
		{"preserved", webapps, `{spec: {resources: {limits: {cpu: 1}}}}`, `{spec: {resources: {limits: {cpu: 1}}}}`, nil},
		{"embedded", backups, `{spec: {template: {apiVersion: v1, kind: A, metadata: {name: a, lables: {}}, spec: {x: y}}}}`,
			`{spec: {template: {apiVersion: v1, kind: A, metadata: {name: a}, spec: {x: y}}}}`,
			[]string{"spec.template.metadata.lables"}},
		{"preserved beside declared", backups, `{spec: {labels: {team: a, other: {b: c}}, extra: [{d: e}]}}`,
			`{spec: {labels: {team: a, other: {b: c}}, extra: [{d: e}]}}`, nil},
		{"undeclared status", zones, `{spec: {domain: a}, status: {x: y}}`, `{spec: {domain: a}}`, []string{"status"}},
		{"free-form", blobs, `{a: {b: 1}, status: {c: d}}`, `{a: {b: 1}, status: {c: d}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := storage(t, tt.kind)
			obj := object(t, tt.in)
			if diff := cmp.Diff(tt.paths, v.Unknown(obj)); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(object(t, tt.in), obj); diff != "" {
				t.Errorf("Unknown changed the object:\n%s", diff)
			}
			if diff := cmp.Diff(tt.paths, v.Prune(obj)); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(object(t, tt.want), obj); diff != "" {
				t.Errorf("pruned (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPruneStatus(t *testing.T) {
	tests := []struct {
		name, kind, in, want string
		paths                []string
	}{
		{"declared", webapps, `{replicas: 1, phase: Up, conditions: [{type: Ready, status: "True", reason: X}], children: []}`,
			`{replicas: 1, phase: Up, conditions: [{type: Ready, status: "True"}]}`,
			[]string{"status.children", "status.conditions[0].reason"}},
		{"nulls", webapps, `{phase: null, replicas: 1}`, `{replicas: 1}`, nil},
		{"free-form", backups, `{anything: {a: b}}`, `{anything: {a: b}}`, nil},
		{"free-form root", blobs, `{anything: {a: b}}`, `{anything: {a: b}}`, nil},
		{"no schema", zones, `{phase: Up}`, `{}`, []string{"status"}},
		{"empty", zones, `{}`, `{}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := object(t, tt.in)
			got, paths := storage(t, tt.kind).PruneStatus(in)
			if diff := cmp.Diff(object(t, tt.want), got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.paths, paths); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(object(t, tt.in), in); diff != "" {
				t.Errorf("the argument was changed:\n%s", diff)
			}
		})
	}
}

func TestNilObjects(t *testing.T) {
	v := storage(t, webapps)
	v.Default(nil)
	if got := v.Prune(nil); got != nil {
		t.Errorf("Prune(nil) = %v", got)
	}
	if got := v.Unknown(nil); got != nil {
		t.Errorf("Unknown(nil) = %v", got)
	}
	if got, dropped := v.PruneStatus(nil); len(got) != 0 || dropped != nil {
		t.Errorf("PruneStatus(nil) = %v, %v", got, dropped)
	}
}
