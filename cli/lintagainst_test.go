//go:build !operator

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLintAgainst: a change of a CRD that breaks resources is a finding.
func TestLintAgainst(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	const file = "crds/widgets.example.com.yaml"
	for _, dir := range []string{before, after} {
		if err := os.CopyFS(dir, os.DirFS("../author/lint/testdata/widgets")); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(after, file))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "replicas: {type: integer, minimum: 0}", "replicas: {type: integer, minimum: 2}", 1)
	if err := os.WriteFile(filepath.Join(after, file), []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	lint := func(root, against string) string {
		var out bytes.Buffer
		c := newLint()
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs([]string{"--root", root, "--against", against})
		if err := c.Execute(); (err != nil) != (root == after) {
			t.Errorf("%v", err)
		}
		return out.String()
	}
	want := file + ":26:41: v1 spec.replicas: the minimum was 0 and is 2, so resources below it become invalid: " +
		"keep what was allowed, or add a version with this bound\n"
	if got := lint(after, before); !strings.Contains(got, want) || !strings.Contains(got, " breaking-crd\n") {
		t.Errorf("%s", got)
	}
	if got := lint(before, after); !strings.Contains(got, "no findings") {
		t.Errorf("%s", got)
	}
}
