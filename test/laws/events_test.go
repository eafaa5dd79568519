package laws

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// reporters are the packages that give reasons to conditions, events and problems.
var reporters = []string{"engine/status", "engine/plan", "engine/reconcile", "engine/controller"}

// reasonAt says which argument of a call, or which element of a literal, is a reason.
var reasonAt = map[string]int{"state": 1, "event": 1, "Eventf": 3}

// TestReasonsAreDescribed: every reason that the code gives is a constant of package api,
// is given somewhere, and is described there: make docs writes the table of reasons.
func TestReasonsAreDescribed(t *testing.T) {
	var described []string
	for _, r := range api.Reasons {
		if slices.Contains(described, r.Name) || r.Meaning == "" {
			t.Errorf("engine/api/reasons.go: %s is described twice, or without a meaning", r.Name)
		}
		described = append(described, r.Name)
	}
	used := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test() || !slices.Contains(reporters, path.Dir(f.path)) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if of, ok := s.X.(*ast.Ident); ok && of.Name == "api" {
					used[s.Sel.Name] = true
				}
			}
			for _, value := range findGivenReasons(n) {
				if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					t.Errorf("%s: gives %s as a reason: make it a constant of engine/api/reasons.go", f.at(lit), lit.Value)
				}
			}
			return true
		})
	}
	for name := range readDeclaredReasons(t) {
		if !used[name] {
			t.Errorf("engine/api/reasons.go: nothing gives %s", name)
		}
		if !slices.Contains(described, strings.TrimPrefix(name, "Reason")) {
			t.Errorf("engine/api/reasons.go: Reasons does not describe %s", name)
		}
	}
}

// readDeclaredReasons returns the constants of reasons that package api has, by name.
func readDeclaredReasons(t *testing.T) map[string]string {
	t.Helper()
	declared := map[string]string{}
	for _, f := range goFiles(t) {
		if f.path != "engine/api/reasons.go" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") && len(spec.Names) == 1 {
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
					declared[spec.Names[0].Name] = lit.Value
				}
			}
			return true
		})
	}
	for name, value := range declared {
		if `"`+strings.TrimPrefix(name, "Reason")+`"` != value {
			t.Errorf("engine/api/reasons.go: %s is %s", name, value)
		}
	}
	if len(declared) == 0 {
		t.Error("engine/api/reasons.go declares no reasons: this test looks in the wrong place")
	}
	return declared
}

// findGivenReasons returns the expressions of a node that are given as a reason.
func findGivenReasons(n ast.Node) (all []ast.Expr) {
	element := func(of ast.Expr, elements []ast.Expr) {
		name := ""
		switch of := of.(type) {
		case *ast.Ident:
			name = of.Name
		case *ast.SelectorExpr:
			name = of.Sel.Name
		}
		if i, gives := reasonAt[name]; gives && i < len(elements) {
			all = append(all, elements[i])
		}
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
			all = append(all, n.Value)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Reason" && len(n.Rhs) == len(n.Lhs) {
				all = append(all, n.Rhs[i])
			}
		}
	case *ast.CallExpr:
		element(n.Fun, n.Args)
	case *ast.CompositeLit:
		element(n.Type, n.Elts)
	}
	return all
}
