package admin

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// A pipeline is what docs/gitops.md says for GitHub or GitLab.
type pipeline struct {
	Jobs struct {
		Kinds struct{ Steps []struct{ Run string } }
	}
	Kinds struct{ Script []string }
}

// scripts are the pipelines' scripts, but for the installation of jacquard.
func scripts(t *testing.T) map[string][]string {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text(t, filepath.Join(root, "docs", "gitops.md")),
		-1) {
		var p pipeline
		if yaml.Unmarshal([]byte(m[1]), &p) != nil {
			continue
		}
		for _, step := range p.Jobs.Kinds.Steps {
			if step.Run != "" && !strings.HasPrefix(step.Run, "go install ") {
				found["GitHub"] = append(found["GitHub"], step.Run)
			}
		}
		if len(p.Kinds.Script) > 0 { // one shell runs all lines
			found["GitLab"] = []string{strings.Join(p.Kinds.Script, "\n")}
		}
	}
	return found
}

// TestPipelines runs the pipelines of docs/gitops.md in a repository with a kind
// as `jacquard new` makes it, whose resource is in the cluster: first as it is,
// then with a mistake.
func TestPipelines(t *testing.T) {
	dir := t.TempDir()
	if out, code := shell(t, dir, "jacquard new Website --group pipeline.example.com"); code != 0 {
		t.Fatal(out)
	}
	cluster.Apply(t, "", text(t, filepath.Join(dir, "crds", "websites.pipeline.example.com.yaml")))
	cluster.Served(t, "pipeline.example.com/v1alpha1", "Website")
	cluster.Apply(t, cluster.Namespace(t), text(t, filepath.Join(dir, "examples", "websites.pipeline.example.com.yaml")))
	if out, code := shell(t, dir, repository); code != 0 {
		t.Fatal(out)
	}
	all := scripts(t)
	if len(all["GitHub"]) != 3 || len(all["GitLab"]) != 1 {
		t.Fatalf("docs/gitops.md has other pipelines: %v", all)
	}
	template := filepath.Join(dir, "templates", "websites.pipeline.example.com", "configmap.yaml")
	for name, steps := range all {
		checkOut(t, dir, name)
		for _, script := range steps {
			if out, code := shell(t, dir, script); code != 0 {
				t.Errorf("%s: %s: exit %d:\n%s", name, script, code, out)
			}
		}
		if said := text(t, filepath.Join(dir, "diff.txt")); !strings.Contains(said, "1 created") {
			t.Errorf("%s: the diff says nothing of the child that is not there yet:\n%s", name, said)
		}
		checkOut(t, dir, name)
		right := text(t, template)
		kit.Write(t, dir, map[string]string{"templates/websites.pipeline.example.com/configmap.yaml": right + "  more: {{ .spec.txet }}\n"})
		if out, code := shell(t, dir, steps[0]); code == 0 || !strings.Contains(out, "spec.txet") {
			t.Errorf("%s: a mistake is not found: exit %d:\n%s", name, code, out)
		}
		kit.Write(t, dir, map[string]string{"templates/websites.pipeline.example.com/configmap.yaml": right})
	}
}

// repository makes a folder a repository that is its own origin.
const repository = `git init --quiet --initial-branch main
git remote add origin "$PWD"
git add . && git -c user.name=a -c user.email=a@example.com commit --quiet --message all`

// checkOut leaves the repository as a pipeline of that name finds it: GitHub's
// has an action check out what it is compared with.
func checkOut(t *testing.T, dir, name string) {
	t.Helper()
	script := "rm -rf before && git worktree prune"
	if name == "GitHub" {
		script += " && git worktree add --quiet --detach before main"
	}
	if out, code := shell(t, dir, script); code != 0 {
		t.Fatal(out)
	}
}

// shell runs a script as both do, and returns what it said. The test's own
// program is the command jacquard.
func shell(t *testing.T, dir, script string) (said string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "jacquard")); err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(cluster.Dir, "kubeconfig")
	cmd := exec.CommandContext(context.Background(), "bash", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "KUBECONFIG="+kubeconfig,
		"KUBECONFIG_TEXT="+text(t, kubeconfig), "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main",
		"GITHUB_STEP_SUMMARY="+filepath.Join(t.TempDir(), "summary.md"))
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
