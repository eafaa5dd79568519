package pipeline

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// An action is what a runner reads of action.yml.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Uses, Shell, Run string
			With, Env            map[string]string
		}
	}
}

// An event is what triggers a run: expressions and their values, and the name.
type event struct {
	name    string
	context map[string]string
}

// pullRequest is one from this repository, on top of the branch main.
func pullRequest() event {
	return event{"pull_request", map[string]string{
		"github.event.pull_request.base.sha":            "main",
		"github.event.pull_request.head.repo.full_name": "team/kinds",
	}}
}

// A run is what came of the action.
type run struct {
	code    int
	log     string
	outputs map[string]string
	summary string
	// report are the files that it wrote.
	report map[string]string
}

// start runs the steps of the action in a repository. The test's own program is the
// command jacquard, unless the inputs have "build".
func start(t *testing.T, repository string, on event, inputs map[string]string) run {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal([]byte(text(t, filepath.Join(root, "action.yml"))), &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" {
		t.Fatalf("the action is %q", a.Runs.Using)
	}
	known := maps.Clone(on.context)
	if known == nil {
		known = map[string]string{}
	}
	maps.Copy(known, map[string]string{"github.repository": "team/kinds", "github.action_path": root})
	for name, input := range a.Inputs {
		known["inputs."+name] = evaluate(t, input.Default, known)
		if value, given := inputs[name]; given {
			known["inputs."+name] = value
		}
	}
	env := environment(t, root, on)
	if _, build := inputs["build"]; build {
		delete(env, "JACQUARD_COMMAND")
	}
	r := run{outputs: map[string]string{}, report: map[string]string{}}
	for _, step := range a.Runs.Steps {
		if step.Uses != "" || r.code != 0 {
			continue
		}
		if step.Shell != "bash" {
			t.Fatalf("a step has the shell %q", step.Shell)
		}
		here := maps.Clone(env)
		for name, value := range step.Env {
			here[name] = evaluate(t, value, known)
		}
		var said string
		said, r.code = bash(t, repository, step.Run, here)
		r.log += said
		for line := range strings.Lines(text(t, env["GITHUB_OUTPUT"])) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			known["steps."+step.ID+".outputs."+name] = value
		}
	}
	for name, output := range a.Outputs {
		r.outputs[name] = evaluate(t, output.Value, known)
	}
	r.summary = text(t, env["GITHUB_STEP_SUMMARY"])
	r.report = reported(t, filepath.Join(repository, known["inputs.report"]))
	return r
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// evaluate puts values in place of expressions. What the event does not have is "",
// as on a runner; an operator is more than this runner knows.
func evaluate(t *testing.T, value string, known map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(value, func(all string) string {
		name := expression.FindStringSubmatch(all)[1]
		if !regexp.MustCompile(`^(github|inputs|steps)(\.[a-z_]+)+$`).MatchString(name) {
			t.Fatalf("%s: this is no name of a value", all)
		}
		return known[name]
	})
}

// environment is what a step finds: nothing of a cluster.
func environment(t *testing.T, root string, on event) map[string]string {
	t.Helper()
	env := map[string]string{}
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if name != "KUBECONFIG" && !strings.HasPrefix(name, "JACQUARD_") && !strings.HasPrefix(name, "GITHUB_") {
			env[name] = value
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range []string{"output", "summary"} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(dir, "jacquard")); err != nil {
		t.Fatal(err)
	}
	maps.Copy(env, map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": on.name, "GITHUB_REPOSITORY": "team/kinds", "GITHUB_ACTION_PATH": root,
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"RUNNER_TEMP": dir, "JACQUARD_COMMAND": filepath.Join(dir, "jacquard"),
	})
	return env
}

// bash runs a script as a runner does, and returns what it said, both streams in one,
// and its exit code.
func bash(t *testing.T, dir, script string, env map[string]string) (said string, code int) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir = dir
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// reported are the files of a report by name; none if there is none.
func reported(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) && !errors.Is(err, syscall.ENOTDIR) {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		all[e.Name()] = text(t, filepath.Join(dir, e.Name()))
	}
	return all
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
