package lsp

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestDefinitionNotes: definition.txt has the comments of the Go types of CRDs.
func TestDefinitionNotes(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apiextensions-apiserver").Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range []string{"types.go", "types_jsonschema.go"} {
		path := strings.TrimSpace(string(dir)) + "/pkg/apis/apiextensions/v1/" + file
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if of, ok := spec.Type.(*ast.StructType); ok {
					lines = append(lines, fieldNotes(spec.Name.Name, of)...)
				}
			}
			return true
		})
	}
	if len(lines) < 50 {
		t.Fatalf("the comments are not where they were: %q", lines)
	}
	slices.Sort(lines)
	want := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("definition.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != definitionNotesText {
		t.Error("definition.txt is not what the Go types say: go test ./author/lsp -run TestDefinitionNotes -update")
	}
}

// fieldNotes returns the lines for a struct: the first paragraph of each field's comment.
func fieldNotes(name string, of *ast.StructType) []string {
	var lines []string
	for _, field := range of.Fields.List {
		if field.Tag == nil {
			continue
		}
		key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		text, _, _ := strings.Cut(field.Doc.Text(), "\n\n")
		if text = strings.Join(strings.Fields(text), " "); text != "" && key != "" && key != "-" {
			lines = append(lines, name+"."+key+"\t"+text)
		}
	}
	return lines
}

// TestBuiltInNote: fields of CRDs, also those of schemas at any depth, have what
// the Go types say of them.
func TestBuiltInNote(t *testing.T) {
	note := builtInNote(definitionKind, strings.Fields("spec versions [] schema openAPIV3Schema properties spec items x-kubernetes-int-or-string"))
	if !strings.Contains(note, "either an integer or a string") {
		t.Errorf("got %q", note)
	}
	if note := builtInNote(definitionKind, []string{"spec", "scope"}); !strings.Contains(note, "Namespaced") {
		t.Errorf("got %q", note)
	}
}
