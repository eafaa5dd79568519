package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// blocks are the fenced blocks of a language in docs/pipeline.md.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(text(t, filepath.Join(root, "docs", "pipeline.md")), -1) {
		all = append(all, m[1])
	}
	return all
}

// TestGitLab runs the pipeline of docs/pipeline.md for GitLab.
func TestGitLab(t *testing.T) {
	t.Parallel()
	var pipeline struct {
		Kinds struct {
			Script    []string
			Variables map[string]string
			Artifacts struct {
				Paths   []string
				Reports struct{ Junit string }
			}
		}
	}
	for _, block := range blocks(t, "yaml") {
		if strings.Contains(block, "CI_MERGE_REQUEST") {
			if err := yaml.Unmarshal([]byte(strings.ReplaceAll(block, "GIT_DEPTH: 0", `GIT_DEPTH: "0"`)), &pipeline); err != nil {
				t.Fatal(err)
			}
		}
	}
	dir := base(t)
	env := elsewhere(t)
	maps.Copy(env, pipeline.Kinds.Variables)
	maps.Copy(env, map[string]string{
		"JACQUARD_COMMIT": source, "CI_MERGE_REQUEST_DIFF_BASE_SHA": "main",
		"CI_MERGE_REQUEST_PROJECT_PATH": "team/kinds", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "team/kinds",
	})
	write(t, dir, archive(t, "breaking").Files)
	git(t, dir, commit)
	// One shell runs all lines.
	out, code := bash(t, dir, strings.Join(pipeline.Kinds.Script, "\n"), env)
	if code != 1 {
		t.Errorf("exit %d:\n%s", code, out)
	}
	report := filepath.Join(dir, pipeline.Kinds.Artifacts.Paths[0])
	if got := text(t, filepath.Join(report, "comment.md")); !strings.Contains(got, "Breaking changes:") ||
		!strings.Contains(got, "| cluster | not asked: there is no kubeconfig |") {
		t.Errorf("the comment:\n%s\n%s", got, out)
	}
	if got := text(t, filepath.Join(dir, pipeline.Kinds.Artifacts.Reports.Junit)); !strings.Contains(got, "<testsuites>") {
		t.Errorf("the report of tests:\n%s", got)
	}
	// A fork does not get the cluster.
	if err := os.RemoveAll(report); err != nil {
		t.Fatal(err)
	}
	env["CI_MERGE_REQUEST_SOURCE_PROJECT_PATH"] = "stranger/kinds"
	env["KUBECONFIG_TEXT"] = "kind: Config"
	out, _ = bash(t, dir, strings.Join(pipeline.Kinds.Script, "\n"), env)
	if got := text(t, filepath.Join(report, "comment.md")); !strings.Contains(got, "| cluster | not asked: the change may come from a fork |") {
		t.Errorf("the comment for a fork:\n%s\n%s", got, out)
	}
}

// TestPlain runs the lines of docs/pipeline.md for other systems.
func TestPlain(t *testing.T) {
	t.Parallel()
	scripts := blocks(t, "sh")
	if len(scripts) != 1 {
		t.Fatalf("docs/pipeline.md has %d scripts", len(scripts))
	}
	dir := base(t)
	git(t, dir, "git remote add origin . && git fetch --quiet")
	out, code := bash(t, dir, scripts[0], elsewhere(t))
	if got := text(t, filepath.Join(dir, "report", "comment.md")); code != 0 || !strings.Contains(got, "### Roles: none changed") {
		t.Errorf("exit %d:\n%s\n%s", code, out, got)
	}
	if !strings.Contains(out, "2 kinds, no findings\n") || strings.Contains(out, "::") {
		t.Errorf("the log is one for GitHub:\n%s", out)
	}
}

// source is what the pipelines fetch of the repository that elsewhere makes.
const source = "main"

// elsewhere is the environment of a system that is not GitHub, where the address of
// this repository leads to one that has the script.
func elsewhere(t *testing.T) map[string]string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "pipeline"), os.DirFS(filepath.Join(root, "pipeline"))); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "git init --quiet --initial-branch "+source+" && chmod +x pipeline/run && "+commit)
	env := environment(t, root, event{})
	maps.DeleteFunc(env, func(name, _ string) bool { return strings.HasPrefix(name, "GITHUB_") })
	maps.Copy(env, map[string]string{
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "url." + dir + ".insteadOf",
		"GIT_CONFIG_VALUE_0": "https://github.com/jacquard-operator/jacquard",
	})
	return env
}
