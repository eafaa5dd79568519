package schema

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write definition.txt")

// TestDefinitionNotes: definition.txt has the comments of the Go types of CRDs.
func TestDefinitionNotes(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/apiextensions-apiserver").Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range []string{"types.go", "types_jsonschema.go"} {
		path := strings.TrimSpace(string(dir)) + "/pkg/apis/apiextensions/v1/" + file
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if of, ok := spec.Type.(*ast.StructType); ok {
					lines = append(lines, noted(spec.Name.Name, of)...)
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
		t.Error("definition.txt is not what the Go types say: go test ./engine/schema -run TestDefinitionNotes -update")
	}
}

// noted are the lines for a struct: the first paragraph of each field's comment.
func noted(name string, of *ast.StructType) []string {
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

// TestDefinition: a schema has its keys at any depth, with what is said of them.
func TestDefinition(t *testing.T) {
	gvk := Definition()
	at := func(path string) *Type {
		found := gvk
		for _, step := range strings.Fields(path) {
			if step == "[]" {
				found = found.Elem()
				continue
			}
			next, ok := found.Field(step)
			if !ok {
				t.Fatalf("there is no %s in %s", step, path)
			}
			found = next
		}
		return found
	}
	const root = "spec versions [] schema openAPIV3Schema"
	for _, path := range []string{root, root + " properties spec properties a items", root + " additionalProperties", root + " anyOf []"} {
		if got := at(path + " type").Enum(); len(got) != 6 {
			t.Errorf("%s: type is one of %v", path, got)
		}
		if got := at(path + " minimum").Kind(); got != KindNumber {
			t.Errorf("%s: minimum is %s", path, got)
		}
	}
	if got := at("spec scope").Enum(); len(got) != 2 {
		t.Errorf("scope is one of %v", got)
	}
	builtIn := BuiltInType(definitionKind)
	if spec, _ := builtIn.Field("spec"); spec == nil || len(spec.fields["scope"].Enum()) != 0 {
		t.Error("the type that is shared changed")
	}
	note := BuiltInNote(definitionKind, strings.Fields(root+" properties spec items x-kubernetes-int-or-string"))
	if !strings.Contains(note, "either an integer or a string") {
		t.Errorf("got %q", note)
	}
	if note := BuiltInNote(definitionKind, []string{"spec", "scope"}); !strings.Contains(note, "Namespaced") {
		t.Errorf("got %q", note)
	}
}
