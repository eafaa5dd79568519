package laws

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inPod are the packages that run in the Pod. Each may import those above it in
// this list, and no others of ours. A new package needs a line here.
var inPod = []string{
	"engine/api", "engine/verdict", "engine/live", "engine/panics", "engine/locks", "engine/transport", "engine/folder", "engine/schema", "engine/schema/compat", "engine/template/funcs", "engine/template",
	"engine/status/health", "engine/kind", "engine/render",
	"engine/revision", "engine/cluster", "engine/apply/ownership", "engine/refusals", "engine/status/readiness",
	"engine/status", "engine/plan", "engine/apply",
	"engine/controller/shard", "engine/controller/replicas", "engine/controller/heartbeat", "engine/controller/metrics", "engine/controller/roots", "engine/observe", "engine/reconcile",
	"engine/controller/rollout", "engine/controller/kinds", "engine/controller", "engine",
}

// offline are the packages that work without a cluster, below author.
var offline = []string{
	"author/apiserver", "author/crdfile", "author/signature", "author/trace", "author/typecheck", "author/catalog", "author/explain", "author/golden", "author/rbac", "author/rbac/exposure", "author/pack", "author/lint",
	"author/scaffold", "author/chart", "author/jsonschema", "author/try", "author/artefact", "author/lsp", "author/playground", "author/playground/starts", "author/playground/wasm",
}

// online are the packages that work on a live cluster, below admin.
var online = []string{"admin/liveview", "admin/sweep", "admin/diff", "admin/health", "admin/history", "admin/confirm", "admin/approve", "admin/eject", "admin/adopt", "admin/tree", "admin/trial",
	"admin/ui"}

// forTests are packages that only tests may import; what they may do is the
// tests' affair.
var forTests = []string{"test/docs", "test/docs/write", "test/fuzzed", "test/kit", "test/memory", "test/mutants", "test/refusals"}

// notOffline are the packages that need a cluster, and notOnline the process:
// what is shared with it lies in the packages below it.
var (
	notOffline = []string{"engine", "engine/cluster", "engine/apply", "engine/observe", "engine/reconcile", "engine/controller", "engine/controller/rollout", "engine/controller/kinds",
		"engine/controller/shard", "engine/controller/replicas", "engine/controller/heartbeat", "engine/controller/metrics", "engine/controller/roots"}
	notOnline = []string{"engine/controller", "engine"}
)

// TestLayers: dependencies point one way. What runs in the Pod imports nothing
// that authors and admins run, and what authors run no cluster.
func TestLayers(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		dir := path.Dir(f.path)
		if f.test() || slices.Contains(forTests, dir) || isModule(t, dir) {
			continue
		}
		seen[dir] = true
		for _, imported := range imports(f) {
			other, ours := strings.CutPrefix(imported, module+"/")
			if ours && !mayImport(dir, other) {
				t.Errorf("%s: %s may not import %s", f.path, dir, other)
			}
		}
	}
	for _, name := range slices.Concat(inPod, offline, online) {
		if !seen[name] {
			t.Errorf("there is no package %s: take it out of this test", name)
		}
	}
	for dir := range seen {
		if dir != "." && dir != "cli" && !strings.HasPrefix(dir, "examples/") && !slices.Contains(slices.Concat(inPod, offline, online), dir) {
			t.Errorf("the package %s is new: say in this test where it runs", dir)
		}
	}
}

// mayImport reports whether a package may import another one.
func mayImport(dir, other string) bool {
	pod := slices.Index(inPod, other)
	switch {
	case slices.Contains(inPod, dir):
		return pod >= 0 && pod < slices.Index(inPod, dir)
	case slices.Contains(offline, dir):
		return slices.Contains(offline, other) || pod >= 0 && !slices.Contains(notOffline, other)
	case slices.Contains(online, dir):
		return slices.Contains(offline, other) || slices.Contains(online, other) || pod >= 0 && !slices.Contains(notOnline, other)
	}
	return !slices.Contains(forTests, other)
}

// TestRegistriesAreForAuthors: the operator pulls nothing. Only the commands push
// and pull ask registries, by the one package that knows how.
func TestRegistriesAreForAuthors(t *testing.T) {
	const ours, theirs = module + "/author/artefact", "github.com/google/go-containerregistry/"
	users := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test() || isModule(t, path.Dir(f.path)) {
			continue
		}
		for _, imported := range imports(f) {
			if strings.HasPrefix(imported, theirs) && path.Dir(f.path) != "author/artefact" {
				t.Errorf("%s: only author/artefact may import %s", f.path, imported)
			}
			users[f.path] = users[f.path] || imported == ours
		}
	}
	for file, uses := range users {
		if asks := file == "cli/push.go" || file == "cli/pull.go"; uses != asks {
			t.Errorf("%s: imports author/artefact: %v; cli/push.go and cli/pull.go do, and nothing else", file, uses)
		}
	}
}

// isModule reports whether a folder is a module of its own, or lies in one.
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
