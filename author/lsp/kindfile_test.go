package lsp

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

const kindFile = "templates/" + app + "/kind.yaml"

// TestKindSchema: the server has the schema of docs/, and can read it.
func TestKindSchema(t *testing.T) {
	data, err := os.ReadFile("../../docs/kind.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != string(kindSchema) {
		if !*update {
			t.Error("kind.schema.json is not docs/kind.schema.json: go test ./author/lsp -run TestKindSchema -update")
		} else if err := os.WriteFile("kind.schema.json", data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kindType().Kind() != schema.KindObject {
		t.Errorf("the type of kind.yaml is %s", kindType().Kind())
	}
}

// offers opens or sets texts that have a mark for the place, and compares what is
// completed there.
func (e *editor) offers(file, marked string, want, not []string) {
	e.t.Helper()
	plain := strings.Replace(marked, "‸", "", 1)
	if e.versions[file] == 0 {
		e.open(file, plain)
	} else {
		e.set(file, plain)
	}
	got := e.completes(file, marked)
	for _, w := range want {
		if !slices.Contains(got, w) {
			e.t.Errorf("%s: %s is not offered, only %q", marked, w, got)
		}
	}
	for _, n := range not {
		if slices.Contains(got, n) {
			e.t.Errorf("%s: %s is offered", marked, n)
		}
	}
}

// hovers is what is told of a marked place.
func (e *editor) hovers(file, marked string) string {
	e.t.Helper()
	var h *hover
	e.call("textDocument/hover", e.at(file, marked), &h)
	if h == nil {
		return ""
	}
	return h.Contents.Value
}

func TestKindFile(t *testing.T) {
	e := startEditor(t, copied(t, app))
	for _, tt := range []struct {
		marked    string
		want, not []string
	}{
		{"‸\n", []string{"apiVersion", "kind", "children", "rollout", "resyncInterval"}, []string{"metadata", "shardBy"}},
		{"apiVersion: ‸\n", []string{"jacquard.dev/v1alpha1"}, []string{"apps/v1"}},
		{"kind: ‸\n", []string{"KindSettings"}, []string{"Pod"}},
		{"allowEmpty: ‸\n", []string{"true", "false"}, nil},
		{"rollout:\n  ‸\n", []string{"waves", "maxFailures"}, []string{"reads"}},
		{"rollout:\n  onFailure: ‸\n", []string{"stop", "rollback"}, nil},
		{"rollout:\n  waves:\n  - ‸\n", []string{"size", "pause"}, nil},
		{"reads:\n- ‸\n", []string{"apiVersion", "kind", "names", "namespaces"}, []string{"rollout"}},
		{"children:\n- apiVersion: v1\n  namespaces: ‸\n", []string{"own", "rendered"}, nil},
	} {
		e.offers(kindFile, tt.marked, tt.want, tt.not)
	}
	e.set(kindFile, "allowEmpty: true\nrollout:\n  maxFailures: 3\n")
	for marked, want := range map[string]string{"allow‸Empty": "no children at all", "max‸Failures": "without stopping the rollout"} {
		if got := e.hovers(kindFile, marked); !strings.Contains(got, want) {
			t.Errorf("%s: got %q", marked, got)
		}
	}
}

// TestInDefinition: in a CRD, keys and values of schemas are completed and told at any depth.
func TestInDefinition(t *testing.T) {
	e := startEditor(t, copied(t, app))
	e.open(crd)
	whole := e.texts[crd]
	head, _, _ := strings.Cut(whole, "  versions:\n")
	head += "  versions:\n  - name: v1\n"
	const root = "    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            "
	for _, tt := range []struct {
		marked    string
		want, not []string
	}{
		{head + root + "‸\n", []string{"type", "properties", "items", "required", "minimum", "pattern", "enum", "default", "description",
			"x-kubernetes-validations"}, []string{"openAPIV3Schema"}},
		{head + root + "type: ‸\n", []string{"object", "array", "string", "integer"}, nil},
		{head + root + "items:\n              ‸\n", []string{"type", "maxLength"}, nil},
		{head + root + "x-kubernetes-validations:\n            - ‸\n", []string{"rule", "message"}, nil},
		{head + root + "nullable: ‸\n", []string{"true", "false"}, nil},
		{head + "    additionalPrinterColumns:\n    - type: ‸\n", []string{"date", "integer"}, []string{"object"}},
		{strings.Replace(head, "scope: Namespaced", "scope: ‸", 1), []string{"Namespaced", "Cluster"}, nil},
	} {
		e.offers(crd, tt.marked, tt.want, tt.not)
	}
	e.set(crd, head+root+"x-kubernetes-int-or-string: true\n            maxLength: 3\n")
	for marked, want := range map[string]string{
		"x-kubernetes-int-‸or-string": "either an integer or a string", "max‸Length": "maxLength: integer", "openAPIV3‸Schema": "OpenAPI v3 schema",
	} {
		if got := e.hovers(crd, marked); !strings.Contains(got, want) || strings.Contains(got, "any value") {
			t.Errorf("%s: got %q", marked, got)
		}
	}
}
