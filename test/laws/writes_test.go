package laws

import (
	"go/types"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestBinaryIsSmall: what is for tests, demos and measuring never reaches the
// operator.
func TestBinaryIsSmall(t *testing.T) {
	all := list(t, "-json=ImportPath", ".")
	for _, p := range all {
		for _, no := range []string{module + "/bench", module + "/devcluster", module + "/test/kit", "helm.sh", "k8s.io/kubernetes", "testing"} {
			if p.ImportPath == no || strings.HasPrefix(p.ImportPath, no+"/") {
				t.Errorf("the operator depends on %s", p.ImportPath)
			}
		}
	}
	if !slices.ContainsFunc(all, func(p listed) bool { return p.ImportPath == module+"/engine/controller" }) {
		t.Error("the binary does not hold the operator: this test looks in the wrong place")
	}
}

// writer is the one package that changes the cluster. Leases, by which processes agree on
// who may, are written by client-go's leader election, and by elects.
const (
	writer = "engine/apply"
	elects = "engine/controller/replicas"
	leases = "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// TestOneWriter: no other package calls what changes objects in a cluster.
func TestOneWriter(t *testing.T) {
	writes := 0
	for _, p := range typedPackages(t) {
		for ident, object := range p.uses {
			if !isWrite(object) || slices.Contains(forTests, p.name()) || p.name() == elects && object.Pkg().Path() == leases {
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

// accessMakers are the functions that make an access to a cluster. The commands call them in
// one place, and the operator is given its access.
var accessMakers = []string{"BuildConfigFromFlags", "ClientConfig", "GetConfig", "GetConfigOrDie", "InClusterConfig", "RESTConfigFromKubeConfig"}

// TestOneAccess: every access to a cluster passes through engine/transport, so that each
// request is sent once and is limited in time.
func TestOneAccess(t *testing.T) {
	made := 0
	for _, p := range typedPackages(t) {
		for ident, object := range p.uses {
			f, is := object.(*types.Func)
			if !is || f.Pkg() == nil || !slices.Contains(accessMakers, f.Name()) || slices.Contains(forTests, p.name()) ||
				!strings.HasPrefix(f.Pkg().Path(), "k8s.io/client-go/") && !strings.HasPrefix(f.Pkg().Path(), "sigs.k8s.io/controller-runtime/") {
				continue
			}
			if at := p.set.Position(ident.Pos()); !strings.HasSuffix(at.Filename, "/cli/access.go") {
				t.Errorf("%s: only cli/access.go may call %s of %s", at, f.Name(), f.Pkg().Path())
			}
			made++
		}
	}
	if made == 0 {
		t.Error("nothing makes an access: this test no longer knows what makes one")
	}
}

// pure are the packages that are functions from values to values.
var pure = []string{
	"engine/api", "author/chart", "author/jsonschema", "author/rbac/exposure", "author/signature", "author/typecheck", "engine/template/funcs",
	"engine/kind", "engine/live", "engine/revision", "engine/apply/ownership", "author/pack", "engine/plan", "engine/status/readiness", "engine/render",
	"engine/controller/heartbeat", "author/rbac", "engine/controller/rollout", "author/scaffold", "engine/schema", "engine/schema/compat", "engine/controller/shard",
	"engine/status", "engine/template", "engine/verdict",
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
var deadlines = []string{"engine/template/funcs/pattern.go"}

// TestPure: no client, no clock, no environment, no randomness.
func TestPure(t *testing.T) {
	for _, f := range goFiles(t) {
		name := path.Dir(f.path)
		if f.test() || !slices.Contains(pure, name) {
			continue
		}
		for _, imported := range imports(f) {
			if reachesOut(imported) {
				t.Errorf("%s: %s is pure and may not import %s", f.path, name, imported)
			}
		}
	}
	for _, p := range typedPackages(t) {
		if !slices.Contains(pure, p.name()) {
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
