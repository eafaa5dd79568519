//go:build !operator

package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/author/playground"
)

// TestPlayground: of all shipped kinds and patterns, the playground prints the bytes that
// render, explain and rbac print, and it finds nothing wrong.
func TestPlayground(t *testing.T) {
	starts, err := playground.Starts(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string]int{}
	for _, start := range starts {
		t.Run(start.Name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range start.Files {
				file := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			var cluster []string
			if start.Files[playground.Cluster] != "" {
				cluster = []string{"--cluster-file", playground.Cluster}
			}
			out := playground.Run(t.Context(), start.Input)
			for what, compared := range map[string]struct {
				got  string
				args []string
			}{
				"render":  {out.Objects, append([]string{"render", playground.Resource}, cluster...)},
				"explain": {out.Explanation, append([]string{"explain", "-v", playground.Resource}, cluster...)},
				"rbac":    {out.Roles, []string{"rbac", "--include", "kinds,users"}},
			} {
				if want := output(t, compared.args...); compared.got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", what, compared.got, want)
				}
			}
			if out.Explanation == "" || out.Roles == "" {
				t.Errorf("something is missing: %+v", out)
			}
			if len(out.Findings) > 0 {
				t.Errorf("found %+v", out.Findings)
			}
			if start.Naive != strings.Contains(out.Naive, "privileged: true") || strings.Contains(out.Objects, "\n    privileged: true") {
				t.Errorf("the naive tool prints\n%s\nand we\n%s", out.Naive, out.Objects)
			}
		})
		groups[start.Group]++
	}
	if groups["own"] != 1 || groups["kinds"] != 6 || groups["patterns"] < 5 || groups["attack"] != 1 {
		t.Errorf("there are %v", groups)
	}
}

// output is what a command prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, log bytes.Buffer
	var started bool
	cmd := newRoot(&started)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&log)
	if err := cmd.ExecuteContext(context.Background()); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, log.String())
	}
	return out.String()
}
