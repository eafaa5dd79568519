// Package main_test holds the laws of the repository: what must stay true of
// its code, data and documents, whoever changes them.
package main_test

import (
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers says what each package under engine/ may import of the others. A new
// package needs a line here, and a place in docs/architecture.md.
var layers = map[string][]string{
	"api":       {},
	"funcs":     {},
	"schema":    {},
	"folder":    {},
	"own":       {},
	"share":     {"api"},
	"ready":     {},
	"status":    {},
	"template":  {"api", "funcs", "schema"},
	"flow":      {"funcs", "schema", "template"},
	"kind":      {"api", "flow", "folder", "schema", "template"},
	"render":    {"api", "kind", "schema", "template"},
	"observe":   {"api"},
	"plan":      {"api", "kind", "observe", "own", "render"},
	"apply":     {"api", "observe"},
	"rollout":   {},
	"metrics":   {},
	"reconcile": {"api", "apply", "kind", "metrics", "observe", "own", "plan", "ready", "render", "schema", "share", "status", "template"},
	"report":    {"api"},
	"operator":  {"api", "apply", "folder", "kind", "metrics", "observe", "plan", "reconcile", "report", "rollout", "schema", "share", "status", "template"},
	"survey":    {"api", "apply", "kind", "observe", "reconcile", "schema", "share"},
	"diff":      {"api", "apply", "kind", "operator", "own", "plan", "reconcile", "render", "rollout", "status", "survey"},
	"health":    {"api", "folder", "kind", "operator", "report", "rights", "schema", "share", "survey", "template"},
	"eject":     {"api", "apply", "observe", "reconcile", "report", "share", "survey"},
	"tree":      {"api", "observe", "plan", "ready", "reconcile", "schema", "survey"},
	"offline":   {"api", "folder", "kind", "ready", "render", "schema", "status", "template"},
	"golden":    {"api", "explain", "flow", "kind", "offline", "schema", "template"},
	"explain":   {"api", "kind", "own", "ready", "render", "template"},
	"lint":      {"api", "flow", "folder", "kind", "offline", "render", "schema", "template"},
	"rights":    {"api", "flow", "kind", "schema", "template"},
	"pack":      {"api", "folder", "kind", "rights"},
	"exposure":  {"flow", "kind", "schema", "template"},
	"scaffold":  {"api", "schema"},
	"chart":     {"folder", "funcs", "kind", "schema", "template"},
	"editor":    {"schema"},
}

// forTests are packages that only tests may import; what they may do is the
// tests' affair.
var forTests = []string{"operator/testcluster"}

// TestLayers: dependencies point one way.
func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		dir := path.Dir(f.path)
		name, ours := strings.CutPrefix(dir, "engine/")
		if !ours || f.test() || slices.Contains(forTests, name) || isModule(t, dir) {
			continue
		}
		seen[name] = true
		allowed, known := layers[name]
		if !known {
			t.Errorf("%s: the package %s is new: say in layers what it may import", f.path, dir)
		}
		for _, imported := range imports(f) {
			other, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			if other, inside := strings.CutPrefix(other, "engine/"); !inside || !slices.Contains(allowed, other) {
				t.Errorf("%s: engine/%s may not import %s", f.path, name, imported)
			}
		}
	}
	for name := range layers {
		if !seen[name] {
			t.Errorf("there is no package engine/%s: take it out of layers", name)
		}
	}
}

// isModule says whether a folder is a module of its own, or lies in one.
func isModule(t *testing.T, dir string) bool {
	t.Helper()
	return slices.ContainsFunc(files(t, "/go.mod"), func(mod string) bool {
		return dir == path.Dir(mod) || strings.HasPrefix(dir, path.Dir(mod)+"/")
	})
}

func imports(f goFile) []string {
	var all []string
	for _, spec := range f.ast.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		all = append(all, p)
	}
	return all
}

// TestBinaryIsSmall: what is for tests, demos and measuring never reaches the
// operator.
func TestBinaryIsSmall(t *testing.T) {
	all := list(t, "-json=ImportPath", ".")
	for _, p := range all {
		for _, no := range []string{module + "/bench", module + "/devcluster", module + "/engine/operator/testcluster", "helm.sh", "k8s.io/kubernetes", "testing"} {
			if p.ImportPath == no || strings.HasPrefix(p.ImportPath, no+"/") {
				t.Errorf("the operator depends on %s", p.ImportPath)
			}
		}
	}
	if !slices.ContainsFunc(all, func(p listed) bool { return p.ImportPath == module+"/engine/operator" }) {
		t.Error("the binary does not hold the operator: this test looks in the wrong place")
	}
}

// writer is the one package that changes the cluster.
const writer = "engine/apply"

// TestOneWriter: no other package calls what changes objects in a cluster.
func TestOneWriter(t *testing.T) {
	writes := 0
	for _, p := range typedPackages(t) {
		for ident, object := range p.uses {
			if !isWrite(object) || slices.Contains(forTests, strings.TrimPrefix(p.name(), "engine/")) {
				continue
			}
			if p.name() == writer {
				writes++
				continue
			}
			t.Errorf("%s: only %s may call %s of %s", p.set.Position(ident.Pos()), writer, object.Name(), object.Pkg().Path())
		}
	}
	if writes == 0 {
		t.Errorf("%s writes nothing: this test no longer knows what a write is", writer)
	}
}

// clients are the packages whose methods reach the API server.
var clients = []string{
	"k8s.io/client-go/dynamic", "k8s.io/client-go/gentype", "k8s.io/client-go/kubernetes", "k8s.io/client-go/metadata",
	"k8s.io/client-go/rest", "k8s.io/apiextensions-apiserver/pkg/client", "sigs.k8s.io/controller-runtime/pkg/client",
}

var writeMethods = []string{
	"Apply", "ApplyStatus", "Create", "Delete", "DeleteAllOf", "DeleteCollection", "Patch", "Post", "Put", "Update", "UpdateStatus", "Verb",
}

func isWrite(object types.Object) bool {
	f, ok := object.(*types.Func)
	if !ok || f.Pkg() == nil || f.Signature().Recv() == nil || !slices.Contains(writeMethods, f.Name()) {
		return false
	}
	return slices.ContainsFunc(clients, func(c string) bool {
		return f.Pkg().Path() == c || strings.HasPrefix(f.Pkg().Path(), c+"/")
	})
}

// pure are the packages that are functions from values to values.
var pure = []string{
	"api", "chart", "editor", "exposure", "flow", "funcs", "kind", "own", "pack", "plan", "ready", "render", "report", "rights", "rollout", "scaffold", "schema", "share", "status", "template",
}

// impure are imports that could tell two runs apart.
var impure = []string{
	"crypto/rand", "k8s.io/client-go", "math/rand", "math/rand/v2", "net", "net/http", "os", "os/exec",
	"os/user", "path/filepath", "runtime", "sigs.k8s.io/controller-runtime", "syscall",
}

// clocks are functions that read or wait for a clock, by package.
var clocks = map[string][]string{
	"time":                                 {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Now", "NowMicro"},
}

// deadlines are files that look at the clock only to give up: that is an
// error, never another result.
var deadlines = []string{"engine/funcs/pattern.go"}

// TestPure: no client, no clock, no environment, no randomness.
func TestPure(t *testing.T) {
	for _, f := range goFiles(t) {
		name := strings.TrimPrefix(path.Dir(f.path), "engine/")
		if f.test() || !slices.Contains(pure, name) {
			continue
		}
		for _, imported := range imports(f) {
			if reachesOut(imported) {
				t.Errorf("%s: engine/%s is pure and may not import %s", f.path, name, imported)
			}
		}
	}
	for _, p := range typedPackages(t) {
		if !slices.Contains(pure, strings.TrimPrefix(p.name(), "engine/")) {
			continue
		}
		for ident, object := range p.uses {
			at := p.set.Position(ident.Pos())
			if readsClock(object) && !slices.ContainsFunc(deadlines, func(file string) bool { return strings.HasSuffix(at.Filename, "/"+file) }) {
				t.Errorf("%s: %s is pure and may not call %s.%s", at, p.name(), object.Pkg().Path(), object.Name())
			}
		}
	}
}

// registry holds the Go types of the built-in kinds by name, and no client.
const registry = "k8s.io/client-go/kubernetes/scheme"

func reachesOut(imported string) bool {
	return imported != registry && slices.ContainsFunc(impure, func(no string) bool {
		below := strings.Contains(no, ".") && strings.HasPrefix(imported, no+"/")
		return imported == no || below
	})
}

func readsClock(object types.Object) bool {
	return object.Pkg() != nil && object.Parent() == object.Pkg().Scope() && slices.Contains(clocks[object.Pkg().Path()], object.Name())
}
