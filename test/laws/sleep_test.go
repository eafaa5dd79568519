package laws

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// longestSleep is how long a test may sleep.
const longestSleep = 200 * time.Millisecond

// slow are tests that make test does not run: make nightly does, and make shots.
var slow = regexp.MustCompile(`^test/(integration/(chaos|scale)/|browser/recording_test.go)`)

// TestSleeps: no test that make test runs sleeps longer than longestSleep, but in the time
// of testing/synctest. kit.Eventually waits for what is to happen, and
// AwaitQuiet of test/kit until nothing can happen any more.
func TestSleeps(t *testing.T) {
	all := goFiles(t)
	constants := map[string]map[string]ast.Expr{}
	for _, f := range all {
		dir := path.Dir(f.path)
		if constants[dir] == nil {
			constants[dir] = map[string]ast.Expr{}
		}
		addConstants(constants[dir], f.ast)
	}
	looked := 0
	for _, f := range all {
		if !f.test() && !strings.HasPrefix(f.path, "test/kit/") || slow.MatchString(f.path) || slices.Contains(imports(f), "testing/synctest") {
			continue
		}
		for _, sleep := range findSleeps(f.ast) {
			looked++
			if slept := duration(sleep.Args[0], constants[path.Dir(f.path)]); slept > longestSleep {
				t.Errorf("%s: it sleeps %s, more than %s: wait for what is to happen by kit.Eventually, for the end of what happens by AwaitQuiet",
					f.at(sleep), slept, longestSleep)
			}
		}
	}
	if looked == 0 {
		t.Error("no test sleeps: this law looks in the wrong place")
	}
}

// TestFindsSleeps: the law knows a long sleep however it is written.
func TestFindsSleeps(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", `package x
import "time"
const stretch = 3 * time.Second
func f(n time.Duration) {
	time.Sleep(time.Second)
	time.Sleep(stretch / 2)
	time.Sleep(time.Duration(2) * (stretch + 1))
	if kind := "Nightly"; kind != "" { time.Sleep(stretch) }
	time.Sleep(100 * time.Millisecond)
	time.Sleep(n)
	kit.Nightly(t, "integration")
	time.Sleep(time.Hour)
}
func g(t *testing.T) {
	kit.Nightly(t, "integration")
	time.Sleep(time.Hour)
}`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]ast.Expr{}
	addConstants(known, file)
	long := 0
	for _, sleep := range findSleeps(file) {
		if duration(sleep.Args[0], known) > longestSleep {
			long++
		}
	}
	if long != 5 {
		t.Errorf("it finds %d long sleeps, want 5", long)
	}
}

// addConstants adds the constants of a package that a file has.
func addConstants(to map[string]ast.Expr, file *ast.File) {
	for _, d := range file.Decls {
		declaration, ok := d.(*ast.GenDecl)
		if !ok || declaration.Tok != token.CONST {
			continue
		}
		for _, s := range declaration.Specs {
			spec := s.(*ast.ValueSpec)
			for i, name := range spec.Names {
				if i < len(spec.Values) {
					to[name.Name] = spec.Values[i]
				}
			}
		}
	}
}

// findSleeps finds the calls of time.Sleep, without those of functions that begin with
// kit.Nightly.
func findSleeps(file *ast.File) (all []*ast.CallExpr) {
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Body != nil && len(f.Body.List) > 0 {
			first, ok := f.Body.List[0].(*ast.ExprStmt)
			return !ok || !isCall(first.X, "kit", "Nightly")
		}
		if isCall(n, "time", "Sleep") {
			all = append(all, n.(*ast.CallExpr))
		}
		return true
	})
	return all
}

func isCall(n ast.Node, of, name string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	function, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || function.Sel.Name != name {
		return false
	}
	x, ok := function.X.(*ast.Ident)
	return ok && x.Name == of
}

var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// duration is that of an expression, 0 if it is no constant.
func duration(e ast.Expr, constants map[string]ast.Expr) time.Duration {
	v := evaluate(e, constants)
	if v.Kind() == constant.Unknown {
		return 0
	}
	n, _ := constant.Int64Val(constant.ToInt(v))
	return time.Duration(n)
}

// evaluate gives the value of an expression of integers, durations and constants.
func evaluate(e ast.Expr, constants map[string]ast.Expr) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return evaluate(e.X, constants)
	case *ast.Ident:
		if value, ok := constants[e.Name]; ok {
			return evaluate(value, constants)
		}
	case *ast.SelectorExpr:
		if unit, ok := units[e.Sel.Name]; ok {
			return constant.MakeInt64(int64(unit))
		}
	case *ast.CallExpr:
		if isCall(e, "time", "Duration") {
			return evaluate(e.Args[0], constants)
		}
	case *ast.BinaryExpr:
		x, y := evaluate(e.X, constants), evaluate(e.Y, constants)
		if x.Kind() == constant.Unknown || y.Kind() == constant.Unknown {
			return constant.MakeUnknown()
		}
		op := e.Op
		if op == token.QUO {
			op = token.QUO_ASSIGN // of integers
		}
		return constant.BinaryOp(x, op, y)
	}
	return constant.MakeUnknown()
}
