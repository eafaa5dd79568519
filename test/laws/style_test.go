package laws

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
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
