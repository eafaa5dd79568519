package kind

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/kind.schema.json")

const schemaFile = "../../docs/kind.schema.json"

// TestJSONSchema: docs/kind.schema.json is the type Settings in words of JSON
// Schema (draft-07), for editors.
func TestJSONSchema(t *testing.T) {
	root := schemaOf(reflect.TypeFor[Settings](), comments(t))
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = "kind.yaml"
	properties := root["properties"].(map[string]any)
	properties["apiVersion"].(map[string]any)["const"] = settingsVersion
	properties["kind"].(map[string]any)["const"] = settingsKind
	fieldsOf := properties["rollout"].(map[string]any)["properties"].(map[string]any)
	fieldsOf["onFailure"].(map[string]any)["enum"] = []string{OnFailureStop, OnFailureRollback}
	delete(root, "required") // all is optional, see Settings
	got, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(schemaFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/kind.schema.json is stale: run go test ./engine/kind -run JSONSchema -update\n%s", diff)
	}
}

// schemaOf is the schema of values of a type; said are the comments.
func schemaOf(t reflect.Type, said map[string]string) map[string]any {
	switch {
	case t == durationType:
		return map[string]any{"type": "string", "examples": []string{"10m", "90s"}}
	case t == namespacesType:
		names := map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "minItems": 1}
		return map[string]any{"anyOf": []any{map[string]any{"enum": []string{"own", "rendered"}}, names}}
	case t == waveType:
		return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, structSchema(t, said)}}
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem(), said)
	case t.Kind() == reflect.Int:
		return map[string]any{"type": "integer", "minimum": 0, "maximum": math.MaxInt32}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), said)}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), said)}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.String:
		return map[string]any{"type": "string"}
	}
	return structSchema(t, said)
}

func structSchema(t reflect.Type, said map[string]string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schemaOf(field.Type, said)
		if text := said[t.Name()+"."+field.Name]; text != "" {
			property["description"] = text
		}
		properties[name] = property
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// comments are the doc comments of the fields in settings.go, and of an entry of
// healthCheckExprs, by type.field.
func comments(t *testing.T) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, name := range []string{"settings.go", "../status/health/entry.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		addComments(said, file)
	}
	return said
}

func addComments(said map[string]string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range of.Fields.List {
				for _, name := range field.Names {
					said[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
		}
		return true
	})
}
