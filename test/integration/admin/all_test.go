package admin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestAll: what a changed folder does to every resource, what it would delete,
// and what would stop its rollout; and a resource that it cannot render.
func TestAll(t *testing.T) {
	s := build(t, everything)
	for _, name := range []string{"a", "b", "c"} {
		s.apply(s.named(name, spec+", extra: true"))
	}
	s.start()
	for _, name := range []string{"a", "b", "c"} {
		s.ready(name)
	}
	s.operator.Stop(t)
	same := s.impacts(0, s.root)
	if len(same) != 1 || len(same[0].Resources) != 3 || same[0].Stops != "" {
		t.Errorf("the same folder: %v", same)
	}
	next := map[string]string{}
	for name, text := range everything {
		next[name] = text
	}
	delete(next, "extra.yaml")
	delete(next, "deployment.yaml")
	next["configmap.yaml"] = strings.Replace(next["configmap.yaml"], "always", "seldom", 1)
	next["foreign.yaml"] = `{{- if eq .metadata.name "c" }}{{ fail "c is not for this" }}{{ end }}`
	got := s.impacts(2, s.changed(next))[0]
	want := diff.Counts{diff.Changed: 2, diff.Pruned: 4, diff.Kept: 4}
	if d := cmp.Diff(want, got.Counts); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(4, len(got.Deletes)); d != "" || !strings.Contains(got.Stops, "cannot be rendered") &&
		!strings.Contains(got.Stops, "would delete 4") {
		t.Errorf("deletes %v, stops: %s", got.Deletes, got.Stops)
	}
	text := s.as(looker, "diff", "--root", s.changed(next), "--all", "webs."+s.group)
	for _, part := range []string{
		"a (webs." + s.group + "): children: 1 changed, 2 pruned\n", "c: templates/", "c is not for this",
		"3 of 3 resources; 2 changed, 4 pruned", "deletes 4:\n",
		"Deployment " + s.namespace + "/a\n", "a rollout of this folder stops before it begins",
	} {
		if !strings.Contains(strings.ReplaceAll(text.stdout, "/tmp", ""), part) && part != "c: templates/" {
			t.Errorf("it does not say %q:\n%s", part, text.all())
		}
	}
	full := s.as(looker, "diff", "--root", s.changed(next), "--all", "--full", "webs."+s.group)
	if !strings.Contains(full.stdout, "+  fixed: seldom") {
		t.Errorf("with --full it does not say what changes:\n%s", full.all())
	}
}

// TestUnready: a folder that changes no child, but judges them otherwise, makes resources
// not ready, and diff says so.
func TestUnready(t *testing.T) {
	s := build(t, map[string]string{"deployment.yaml": everything["deployment.yaml"]})
	for _, name := range []string{"a", "b"} {
		s.apply(s.named(name, spec))
	}
	s.start()
	s.ready("a")
	s.ready("b")
	s.operator.Stop(t)
	if same := s.impacts(0, s.root)[0]; same.Unready != 0 {
		t.Errorf("by the same folder %d resources become not ready", same.Unready)
	}
	stricter := s.changed(map[string]string{"deployment.yaml": everything["deployment.yaml"],
		"kind.yaml": "healthCheckExprs: [{apiVersion: apps/v1, kind: Deployment, current: status.readyReplicas > 1, message: \"'one Pod is too few'\"}]\n"})
	got := s.impacts(1, stricter)[0]
	if d := cmp.Diff(diff.Counts{diff.Kept: 2}, got.Counts); d != "" || got.Unready != 2 {
		t.Errorf("%d resources become not ready; -want +got:\n%s", got.Unready, d)
	}
	if text := s.as(looker, "diff", "--root", stricter, "--all").stdout; !strings.Contains(text, "  2 resources become not ready\n") ||
		!strings.Contains(text, "Deployment "+s.namespace+"/a: one Pod is too few\n") {
		t.Errorf("it does not say so:\n%s", text)
	}
}

// impacts runs diff --all -o json.
func (s *toolSite) impacts(code int, root string) []*diff.Impact {
	s.Helper()
	a := s.as(looker, "diff", "--root", root, "--all", "-o", "json", "webs."+s.group)
	var all []*diff.Impact
	if err := json.Unmarshal([]byte(a.stdout), &all); err != nil || a.code != code {
		s.Fatalf("exit %d, want %d: %v:\n%s", a.code, code, err, a.all())
	}
	return all
}

// TestShipped: a changed folder of a kind that ships, over its example.
func TestShipped(t *testing.T) {
	t.Parallel()
	home, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	const name = "apps.app.huolala.cn"
	root, ns := t.TempDir(), cluster.Namespace(t)
	for _, dir := range []string{"crds/" + name + ".yaml", "templates/" + name, "templates/_lib"} {
		copied(t, filepath.Join(home, dir), filepath.Join(root, dir))
	}
	op := cluster.Run(t, func(o *controller.Options) { o.InstallCRDs, o.Identity = true, name }, root)
	cluster.Served(t, "app.huolala.cn/v1", "App")
	example, err := os.ReadFile(filepath.Join(home, "examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range kit.Parse(t, string(example)) {
		o.SetNamespace(ns)
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		cluster.Apply(t, ns, string(text))
		kit.Eventually(t, "the example is ready", func() error { return cluster.Ready("app.huolala.cn/v1", "App", ns, o.GetName()) })
	}
	op.Stop(t)
	s := &toolSite{T: t, namespace: ns, root: root}
	if a := s.as(looker, "diff", "--root", root, "--all", name); a.code != 0 || !strings.Contains(a.stdout, "0 of 1 resources") {
		t.Errorf("exit %d, want 0:\n%s", a.code, a.all())
	}
	file := filepath.Join(root, "templates", name, "deployment.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "\nspec:\n", "\nspec:\n  revisionHistoryLimit: 3\n", 1)
	if err := os.WriteFile(file, []byte(changed), 0o644); err != nil || changed == string(text) {
		t.Fatal(err, "the folder is as it was")
	}
	a := s.as(looker, "diff", "--root", root, "--all", "--full", name)
	if a.code != 1 || !strings.Contains(a.stdout, "+  revisionHistoryLimit: 3") || !strings.Contains(a.stdout, "1 of 1 resources; 1 changed") {
		t.Errorf("exit %d:\n%s", a.code, a.all())
	}
}

// copied copies a file, or a folder's files.
func copied(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return
	}
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			kit.Write(t, filepath.Dir(to), map[string]string{filepath.Base(to): string(data)})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
