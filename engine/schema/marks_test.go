package schema

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarksAreTheAPIs reads the sources of the API's Go types, as far as they
// are stable. To follow a newer API, write what it prints into marks.txt.
func TestMarksAreTheAPIs(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(dir))
	m := marked{enums: map[string][]string{}, texts: map[string]string{}}
	for _, file := range globbed(t, root+"/*/v*/types.go") {
		if pkg := strings.TrimPrefix(filepath.Dir(file), root+"/"); stable.MatchString(pkg) {
			m.read(t, file, pkg)
		}
	}
	if len(m.enums) < 50 || len(m.optional) < 50 {
		t.Fatalf("the sources in %s are not as they were: %d enums, %d optional fields", root, len(m.enums), len(m.optional))
	}
	if diff := cmp.Diff(strings.Split(m.String(), "\n"), strings.Split(marksText, "\n")); diff != "" {
		t.Errorf("marks.txt differs from the API's Go types (-API +marks.txt):\n%s\nit must be:\n%s", diff, m)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// marked is what the comments of the Kubernetes API's Go types say and their
// tags do not.
type marked struct {
	enums    map[string][]string // words by Go type
	texts    map[string]string   // constants by package and name
	optional []string
}

// String prints it as marks.txt has it.
func (m marked) String() string {
	lines := slices.Clone(m.optional)
	for name, words := range m.enums {
		if len(words) > 0 {
			lines = append(lines, name+": "+strings.Join(words, ","))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// read takes in a file of Go types; pkg is such as apps/v1.
func (m *marked) read(t *testing.T, file, pkg string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if strings.Contains(comments(group.Doc), "+enum") {
					m.enums[pkg+"."+spec.Name.Name] = nil
				}
				m.structure(pkg+"."+spec.Name.Name, spec)
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			m.constant(t, parsed, pkg, spec)
		}
		return true
	})
}

// comments are the lines of a comment, markers included.
func comments(group *ast.CommentGroup) string {
	var b strings.Builder
	if group != nil {
		for _, c := range group.List {
			b.WriteString(c.Text + "\n")
		}
	}
	return b.String()
}

func (m *marked) structure(name string, spec *ast.TypeSpec) {
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		if f.Tag == nil || !strings.Contains(comments(f.Doc), "+optional") {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		key, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
		if key != "" && key != "-" && !strings.Contains(options, "omit") {
			m.optional = append(m.optional, name+"."+key)
		}
	}
}

// constant takes in one text: A T = "a", A = T("a"), or A = T(core.B), which stands for
// a text of a package that was read before.
func (m *marked) constant(t *testing.T, file *ast.File, pkg string, spec *ast.ValueSpec) {
	t.Helper()
	of, value := spec.Type, spec.Values[0]
	if call, ok := value.(*ast.CallExpr); ok && len(call.Args) == 1 {
		of, value = call.Fun, call.Args[0]
	}
	text, found := m.text(file, value)
	if found {
		m.texts[pkg+"."+spec.Names[0].Name] = text
	}
	name, named := of.(*ast.Ident)
	if !named {
		return
	}
	key := pkg + "." + name.Name
	if before, enum := m.enums[key]; enum && found {
		m.enums[key] = append(before, text)
	} else if enum {
		t.Errorf("the text of %s.%s is not known", pkg, spec.Names[0].Name)
	}
}

// text is the text of a literal, or of a constant of another package.
func (m *marked) text(file *ast.File, value ast.Expr) (text string, found bool) {
	switch value := value.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(value.Value)
		return text, err == nil
	case *ast.SelectorExpr:
		from, _ := value.X.(*ast.Ident)
		for _, imported := range file.Imports {
			path, _ := strconv.Unquote(imported.Path.Value)
			if from != nil && imported.Name != nil && imported.Name.Name == from.Name {
				text, found = m.texts[strings.TrimPrefix(path, "k8s.io/api/")+"."+value.Sel.Name]
			}
		}
	}
	return text, found
}
