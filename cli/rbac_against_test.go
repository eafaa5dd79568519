//go:build !operator

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRBACAgainst: what a folder needs more is told with the line that needs it, in
// every form, and by the exit code.
func TestRBACAgainst(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	for _, dir := range []string{before, after} {
		if err := os.CopyFS(dir, os.DirFS("../author/lint/testdata/widgets")); err != nil {
			t.Fatal(err)
		}
	}
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
	if err := os.WriteFile(filepath.Join(after, "templates/widgets.example.com/job.yaml"), []byte(job), 0o644); err != nil {
		t.Fatal(err)
	}
	const verbs = `{apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, create, patch, delete]}`
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"more":          {[]string{"--root", after, "--against", before}, 1, "\n+ " + verbs + "  # "},
		"less":          {[]string{"--root", before, "--against", after}, 0, "\n- " + verbs + "  # "},
		"the same":      {[]string{"--root", after, "--against", after}, 0, "roles: none changed\n"},
		"one kind":      {[]string{"--root", after, "--against", before, "widgets.example.com"}, 1, "roles: 1 changed, 1 of them allow more\n"},
		"JSON":          {[]string{"--root", after, "--against", before, "-o", "json"}, 1, `"resource": "jobs"`},
		"Markdown":      {[]string{"--root", after, "--against", before, "-o", "markdown"}, 1, "```diff\n+ " + verbs},
		"no such state": {[]string{"--root", after, "--against", filepath.Join(before, "none")}, 2, "--against: "},
		"no such form":  {[]string{"--root", after, "--against", before, "-o", "yaml"}, 2, "markdown with --against"},
		"a wrong form":  {[]string{"--root", after, "--check", "-o", "markdown"}, 2, "only json is known"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := Main(append([]string{"rbac"}, c.args...), strings.NewReader(""), &out, &out)
			if code != c.code || !strings.Contains(out.String(), c.want) {
				t.Errorf("exit %d, wanted %d and %q:\n%s", code, c.code, c.want, out.String())
			}
			if strings.Contains(out.String(), "the Lease of the leader") {
				t.Errorf("what every operator needs is told:\n%s", out.String())
			}
		})
	}
}
