package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrune(t *testing.T) {
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
	if got := v.Prune(nil); got != nil {
		t.Errorf("Prune(nil) = %v", got)
	}
	if got, dropped := v.PruneStatus(nil); len(got) != 0 || dropped != nil {
		t.Errorf("PruneStatus(nil) = %v, %v", got, dropped)
	}
}
