package pipeline

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestBuilds: the action builds the command from its own checkout, with Go alone.
func TestBuilds(t *testing.T) {
	t.Parallel()
	dir := base(t)
	r := start(t, dir, pullRequest(), map[string]string{"build": "", "coverage": "100"})
	if r.code != 0 || !strings.Contains(r.report["comment.md"], "Tests: 2 cases, 0 failed") {
		t.Errorf("exit %d:\n%s\n%s", r.code, r.log, r.report["comment.md"])
	}
}

// TestRefuses: what cannot be checked, or not safely, ends the action before
// anything is looked at.
func TestRefuses(t *testing.T) {
	t.Parallel()
	at := func(commit string) event {
		e := pullRequest()
		e.context["github.event.pull_request.base.sha"] = commit
		return e
	}
	target := pullRequest()
	target.name = "pull_request_target"
	for name, c := range map[string]struct {
		on     event
		script string
		want   string
	}{
		"secrets for strangers":        {on: target, want: "use pull_request"},
		"secrets after a workflow":     {on: event{name: "workflow_run"}, want: "use pull_request"},
		"a base that was not fetched":  {on: at("0123456789012345678901234567890123456789"), want: "fetch-depth: 0"},
		"a base that is an option":     {on: at("--output=x"), want: "the commit --output=x is not in this clone"},
		"a base of another repository": {on: at("other"), script: "git checkout --quiet --orphan other && echo >other && " + commit + " && git checkout --quiet change", want: "no commit in common"},
		"a report of the change":       {on: pullRequest(), script: "echo >jacquard-report", want: "jacquard-report is there already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := base(t)
			if c.script != "" {
				git(t, dir, c.script)
			}
			r := start(t, dir, c.on, nil)
			if r.code != 2 || !strings.Contains(r.log, c.want) || r.report["comment.md"] != "" {
				t.Errorf("exit %d, wanted %q:\n%s", r.code, c.want, r.log)
			}
		})
	}
}

// TestComparesWithTheMergeBase: what others changed on the target branch since is no
// change of the pull request; and nothing is left in the clone.
func TestComparesWithTheMergeBase(t *testing.T) {
	t.Parallel()
	dir := base(t)
	git(t, dir, "git checkout --quiet main && mkdir schemas && rm -r templates/logins.* crds/logins.* examples/logins.* && "+commit+
		" && git checkout --quiet change")
	r := start(t, dir, pullRequest(), nil)
	if r.code != 0 || !strings.Contains(r.report["comment.md"], "### Roles: none changed") {
		t.Errorf("exit %d:\n%s\n%s", r.code, r.log, r.report["comment.md"])
	}
	if out, _ := bash(t, dir, "git worktree list; git status --short", map[string]string{"PATH": os.Getenv("PATH")}); strings.Count(out, "\n") != 2 ||
		!strings.Contains(out, "?? jacquard-report/\n") {
		t.Errorf("this is left:\n%s", out)
	}
}

// TestWithoutBase: a push, and a repository that had no kinds, are checked too.
func TestWithoutBase(t *testing.T) {
	t.Parallel()
	dir := base(t)
	r := start(t, dir, event{name: "push"}, nil)
	if r.code != 0 || !strings.Contains(r.report["comment.md"], "| permissions | not compared: there is no base |") {
		t.Errorf("a push: exit %d:\n%s\n%s", r.code, r.log, r.report["comment.md"])
	}
	empty := t.TempDir()
	git(t, empty, "git init --quiet --initial-branch main && echo kinds >README.md && "+commit+" && git checkout --quiet -b change")
	write(t, filepath.Join(empty, "kinds"), archive(t, "repository").Files)
	git(t, empty, commit)
	r = start(t, empty, pullRequest(), map[string]string{"root": "kinds"})
	if r.code != 0 || !strings.Contains(r.report["comment.md"], "| permissions | not compared: the base has no kinds |") {
		t.Errorf("first kinds: exit %d:\n%s\n%s", r.code, r.log, r.report["comment.md"])
	}
}

// TestLongComment: of very much, GitHub takes the comment, and it says what is not in
// it.
func TestLongComment(t *testing.T) {
	t.Parallel()
	dir := base(t)
	var page, role strings.Builder
	page.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .metadata.name }}}\ndata:\n")
	for i := range 2000 {
		fmt.Fprintf(&page, "  a%d: {{ .spec.text }}\n", i)
		fmt.Fprintf(&role, "{{ $v%d := 1 }}\n", i)
	}
	name := filepath.Join(dir, "templates", "pages.pipeline.example.com", "page.yaml")
	if err := os.WriteFile(name, []byte(page.String()+strings.ReplaceAll(role.String(), "\n", "")), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, dir, commit)
	r := start(t, dir, pullRequest(), nil)
	comment := r.report["comment.md"]
	safe(t, comment)
	if n := len(comment); n < 20_000 || strings.Count(comment, "**Cut:**") != 2 || !strings.Contains(comment, "### Roles: none changed") {
		t.Errorf("a comment of %d bytes:\n%s\n%s", n, comment, r.log)
	}
}

// TestShellcheck: the script has nothing that shellcheck objects to.
func TestShellcheck(t *testing.T) {
	t.Parallel()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("shellcheck")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no shellcheck: install the package of this name")
	}
	if out, err := exec.CommandContext(t.Context(), program, filepath.Join(root, "pipeline", "run")).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
