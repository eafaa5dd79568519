package laws

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

// tellers are the packages that say in a reason what became of something.
var tellers = []string{"engine/status", "engine/reconcile", "engine/controller"}

// reasonAt says which argument of a call, or which element of a literal, is a
// reason.
var reasonAt = map[string]int{"seldom": 1, "problem": 1, "held": 1, "event": 1, "Eventf": 3}

// TestReasonsAreDocumented: the runbooks say of every reason of an event,
// a condition or a problem that the code has what it means and what to do, and
// of no other.
func TestReasonsAreDocumented(t *testing.T) {
	r := reasons{consts: map[string]string{}, found: map[string]bool{}}
	var told []goFile
	for _, f := range goFiles(t) {
		if !f.test() && slices.Contains(tellers, path.Dir(f.path)) {
			told = append(told, f)
			ast.Inspect(f.ast, r.constants)
		}
	}
	for _, f := range told {
		ast.Inspect(f.ast, r.uses)
	}
	for _, state := range []rollout.State{rollout.Running, rollout.Stopped, rollout.Complete} {
		r.found["Rollout"+string(state)] = true
	}
	documented := map[string]bool{}
	for _, line := range strings.Split(section(t, runbooks, "## Reasons"), "\n") {
		if m := reasonRow.FindStringSubmatch(line); m != nil {
			documented[m[1]] = true
		}
	}
	if diff := cmp.Diff(r.found, documented); diff != "" {
		t.Errorf("%s (- in the code, + documented):\n%s", runbooks, diff)
	}
}

var reasonRow = regexp.MustCompile("^\\| `([A-Z][A-Za-z]+)` \\| [A-Za-z]+ \\| [^|]+ \\| [^|]* ?\\|$")

// A reasons collects the reasons that code gives.
type reasons struct {
	consts map[string]string
	found  map[string]bool
}

// constants takes down constants that are texts. Those of package status that
// are called reason… are reasons wherever they are used.
func (r reasons) constants(n ast.Node) bool {
	spec, ok := n.(*ast.ValueSpec)
	if !ok {
		return true
	}
	for i, name := range spec.Names {
		if i >= len(spec.Values) {
			continue
		}
		if text, ok := literal(spec.Values[i]); ok {
			r.consts[name.Name] = text
			if strings.HasPrefix(name.Name, "reason") {
				r.found[text] = true
			}
		}
	}
	return true
}

// uses takes down what is given as a reason.
func (r reasons) uses(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
			r.add(n.Value)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "Reason" && len(n.Rhs) == len(n.Lhs) {
				r.add(n.Rhs[i])
			}
		}
	case *ast.CallExpr:
		r.element(n.Fun, n.Args)
	case *ast.CompositeLit:
		r.element(n.Type, n.Elts)
	}
	return true
}

func (r reasons) element(of ast.Expr, all []ast.Expr) {
	name := ""
	switch of := of.(type) {
	case *ast.Ident:
		name = of.Name
	case *ast.SelectorExpr:
		name = of.Sel.Name
	}
	if i, tells := reasonAt[name]; tells && i < len(all) {
		r.add(all[i])
	}
}

// add takes down a reason that is written out, or a constant. What is computed
// was a reason elsewhere before.
func (r reasons) add(value ast.Expr) {
	if text, ok := literal(value); ok {
		r.found[text] = true
	}
	if ident, ok := value.(*ast.Ident); ok && r.consts[ident.Name] != "" {
		r.found[r.consts[ident.Name]] = true
	}
}

func literal(value ast.Expr) (string, bool) {
	lit, ok := value.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
