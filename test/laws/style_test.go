package laws

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestComments: every package and every exported name says what it is. A
// method that some interface asks for may speak for itself.
func TestComments(t *testing.T) {
	documented := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		dir := path.Dir(f.path)
		documented[dir] = documented[dir] || f.ast.Doc != nil
		for _, decl := range f.ast.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: %s is exported and has no comment", f.at(name), name.Name)
			}
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: the package has no comment", dir)
		}
	}
}

// obvious are the methods whose meaning their interface says.
var obvious = []string{"Error", "Unwrap", "String"}

func undocumented(decl ast.Decl) []*ast.Ident {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		method := d.Recv != nil
		if d.Name.IsExported() && d.Doc == nil && !(method && (slices.Contains(obvious, d.Name.Name) || !receiverExported(d))) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(d, spec)...)
		}
		return names
	}
	return nil
}

func receiverExported(d *ast.FuncDecl) bool {
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok {
			exported = exported || ident.IsExported()
		}
		return true
	})
	return exported
}

// undocumentedSpec lets a group's comment speak for its constants and
// variables.
func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if d.Doc != nil || s.Doc != nil || s.Comment != nil || d.Tok == token.IMPORT {
			return nil
		}
		return slices.DeleteFunc(slices.Clone(s.Names), func(n *ast.Ident) bool { return !n.IsExported() })
	}
	return nil
}

// mostFields is how many fields a struct may have without saying why.
const mostFields = 12

// TestLargeStructs: the comment of a struct with many fields says why it has them.
func TestLargeStructs(t *testing.T) {
	large := 0
	for _, f := range goFiles(t) {
		if f.test() {
			continue
		}
		for _, decl := range f.ast.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				s := spec.(*ast.TypeSpec)
				if of, ok := s.Type.(*ast.StructType); !ok || of.Fields.NumFields() <= mostFields {
					continue
				}
				large++
				if why := cmp.Or(s.Doc, d.Doc).Text(); !strings.Contains(strings.Join(strings.Fields(why), " "), "many fields since") {
					t.Errorf("%s: %s has more than %d fields; split it, or say in its comment: It has many fields since …", f.at(s), s.Name, mostFields)
				}
			}
		}
	}
	if large < 10 {
		t.Errorf("only %d large structs found: this test looks in the wrong place", large)
	}
}

// TestGoDirectives: every module builds with Go 1.26.
func TestGoDirectives(t *testing.T) {
	directive := regexp.MustCompile(`(?m)^go (\d+)\.(\d+)`)
	mods := append(files(t, "/go.mod"), "go.mod")
	for _, mod := range mods {
		m := directive.FindStringSubmatch(string(read(t, mod)))
		if m == nil {
			t.Errorf("%s: has no go directive", mod)
			continue
		}
		major, _ := strconv.Atoi(m[1])
		if minor, _ := strconv.Atoi(m[2]); major != 1 || minor > 26 {
			t.Errorf("%s: wants Go %s.%s; at most 1.26 is allowed", mod, m[1], m[2])
		}
	}
	if len(mods) < 3 {
		t.Errorf("only %d modules found: this test looks in the wrong place", len(mods))
	}
}
