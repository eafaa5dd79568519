package jsonschema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// parse reads a CRD.
func parse(t *testing.T, file string) *schema.CRD {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crd, err := crdfile.Parse(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// TestOf: what each part of a CRD's schema becomes.
func TestOf(t *testing.T) {
	schemas, err := Of(parse(t, "testdata/crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(schemas) != 1 || schemas[0].Path != "example.com/thing_v1.json" {
		t.Fatalf("there are %d schemas, the first at %s; one was expected", len(schemas), schemas[0].Path)
	}
	want, err := os.ReadFile("testdata/thing_v1.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(schemas[0].Data)); diff != "" {
		t.Errorf("the schema differs (-want +got):\n%s", diff)
	}
}

// TestAll: a resource is checked by the schema of its own kind.
func TestAll(t *testing.T) {
	data, err := All([]Schema{{Path: "example.com/thing_v1.json", APIVersion: "example.com/v1", Kind: "Thing"}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		AllOf []struct {
			If   struct{ Properties map[string]map[string]string }
			Then map[string]string
		}
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.AllOf) != 1 || got.AllOf[0].If.Properties["kind"]["const"] != "Thing" ||
		got.AllOf[0].Then["$ref"] != "example.com/thing_v1.json" {
		t.Errorf("it says %s", data)
	}
	if none, err := All(nil); err != nil || strings.Contains(string(none), "allOf") {
		t.Errorf("without kinds it says %s, %v", none, err)
	}
}

// TestShipped: a JSON Schema library takes what is made of the CRDs of the
// repository: the examples are valid, and misspelt or mistyped ones are not.
func TestShipped(t *testing.T) {
	files, err := filepath.Glob("../../crds/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("there are only %d CRDs: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			crd := parse(t, file)
			schemas, err := Of(crd)
			if err != nil {
				t.Fatal(err)
			}
			resource := example(t, crd)
			if faults := check(t, schemas[0].Data, resource); len(faults) > 0 {
				t.Errorf("the example is refused: %v", faults)
			}
			for name, spoil := range map[string]func(map[string]any){
				"misspelt": func(o map[string]any) { o["spec"].(map[string]any)["misspelt"] = "x" },
				"no spec":  func(o map[string]any) { o["spec"] = "text" },
				"unknown":  func(o map[string]any) { o["spek"] = map[string]any{} },
				"unnamed":  func(o map[string]any) { delete(o, "metadata") },
				"labels":   func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"a": 1} },
			} {
				broken := example(t, crd)
				spoil(broken)
				if faults := check(t, schemas[0].Data, broken); len(faults) == 0 {
					t.Errorf("%s: it is not refused", name)
				}
			}
		})
	}
}

// example is the resource of a shipped example.
func example(t *testing.T, crd *schema.CRD) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../examples/" + crd.Name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			t.Fatal(err)
		}
		if object["kind"] == crd.Kind {
			return object
		}
	}
	t.Fatalf("there is no %s in the example", crd.Kind)
	return nil
}

// check validates by a library that knows all but const.
func check(t *testing.T, data []byte, object map[string]any) []error {
	t.Helper()
	s := &spec.Schema{}
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	return validate.NewSchemaValidator(s, nil, "", strfmt.Default).Validate(object).Errors
}
