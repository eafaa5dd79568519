package pipeline

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// ourAction is how a workflow names this action: by a commit of its own.
var ourAction = regexp.MustCompile(`jacquard-operator/jacquard@0{40}`)

// workflows are those of this repository, and those of its documents, by where they
// are.
func workflows(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, _ := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.y*ml"))
	for _, file := range files {
		all[filepath.Base(file)] = text(t, file)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		documents, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, file := range documents {
			for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllStringSubmatch(text(t, file), -1) {
				if strings.Contains(m[1], "\njobs:\n") {
					all[filepath.Base(file)] += m[1]
				}
			}
		}
	}
	return all
}

// TestActionlint: actionlint objects to no workflow, also not to how it uses the
// action: it reads action.yml for that.
func TestActionlint(t *testing.T) {
	t.Parallel()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := workflows(t, root)
	if all["pipeline.md"] == "" {
		t.Fatal("docs/pipeline.md has no workflow")
	}
	for name, workflow := range all {
		if errs := lint(t, root, ourAction.ReplaceAllString(workflow, "./")); errs != "" {
			t.Errorf("%s: %s", name, errs)
		}
	}
	// It does look into the action.
	wrong := strings.Replace(ourAction.ReplaceAllString(all["pipeline.md"], "./"), "kubeconfig:", "kubeconfik:", 1)
	if errs := lint(t, root, wrong); !strings.Contains(errs, `input "kubeconfik" is not defined`) {
		t.Errorf("an input that the action does not have: %q", errs)
	}
}

// lint is what actionlint says of a workflow in a repository with this action; "" if
// that is nothing.
func lint(t *testing.T, root, workflow string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, ".github", "workflows", "it.yml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{file: workflow, filepath.Join(dir, "action.yml"): text(t, filepath.Join(root, "action.yml"))} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	project, err := actionlint.NewProject(dir)
	if err != nil {
		t.Fatal(err)
	}
	linter, err := actionlint.NewLinter(&said, &actionlint.LinterOptions{Color: actionlint.ColorOptionKindNever})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := linter.LintFile(file, project); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

// A job is what the rules below need of a job in a workflow.
type job struct {
	If          string
	Permissions any
	Steps       []struct {
		Uses, Run string
		With      map[string]any
	}
}

// TestWorkflowsAreSafe: what runs for pull requests has no token that writes where it
// looks at them, and no text of a stranger becomes a part of a script.
func TestWorkflowsAreSafe(t *testing.T) {
	t.Parallel()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := workflows(t, root)
	all["action.yml"] = text(t, filepath.Join(root, "action.yml"))
	for name, content := range all {
		if strings.Contains(content, "pull_request_target") || strings.Contains(content, "workflow_run") {
			t.Errorf("%s: it runs with secrets for strangers", name)
		}
		for _, m := range regexp.MustCompile(`(?m)uses: *(\S+)(.*)$`).FindAllStringSubmatch(content, -1) {
			if !ourAction.MatchString(m[1]) && !strings.HasPrefix(m[1], "./") &&
				(!regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(m[1]) || !regexp.MustCompile(`^ # v[0-9.]+$`).MatchString(m[2])) {
				t.Errorf("%s: %s is not pinned by a digest, with its version in a comment", name, m[0])
			}
		}
		var workflow struct {
			Permissions any
			Jobs        map[string]job
			Runs        job
		}
		if err := yaml.Unmarshal([]byte(content), &workflow); err != nil {
			t.Fatal(err)
		}
		if strangers := strings.Contains(content, "pull_request"); name != "action.yml" && strangers &&
			(workflow.Permissions == nil || writes(workflow.Permissions)) {
			t.Errorf("%s: its token is not limited to reading: say permissions: {} at the top", name)
		}
		for id, j := range workflow.Jobs {
			j.check(t, name+": "+id, strings.Contains(content, "pull_request"))
		}
		workflow.Runs.check(t, name, false)
	}
}

// writes reports whether permissions are more than reading.
func writes(permissions any) bool {
	all, is := permissions.(map[string]any)
	if !is {
		return permissions == "write-all"
	}
	return slices.Contains(slices.Collect(maps.Values(all)), any("write"))
}

func (j job) check(t *testing.T, where string, strangers bool) {
	t.Helper()
	looks := slices.ContainsFunc(j.Steps, func(s struct {
		Uses, Run string
		With      map[string]any
	}) bool {
		return strings.HasPrefix(s.Uses, "actions/checkout@")
	})
	if strangers && writes(j.Permissions) && (looks || !strings.Contains(j.If, "github.event.pull_request.head.repo.full_name == github.repository")) {
		t.Errorf("%s: it may write, and looks at pull requests of strangers", where)
	}
	for _, s := range j.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: a script has an expression: put it into env:\n%s", where, s.Run)
		}
		if strangers && strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
			t.Errorf("%s: the checkout leaves its token in .git/config", where)
		}
	}
}
