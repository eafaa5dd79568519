package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/test/kit"
)

// seeds are how many seeds a defect may take to be found.
const seeds = 3

// defects are the patches of testdata/defects: each takes from the operator
// something that keeps it sound.
func defects(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/defects/*.patch")
	if err != nil || len(all) < 12 {
		t.Fatalf("%d defects, want twelve: %v", len(all), err)
	}
	return all
}

// broken writes the files that a patch changes, as it leaves them, into a folder,
// and returns what tells the compiler to take them in place of the real ones.
func broken(t *testing.T, patch string) (overlay string) {
	t.Helper()
	root, err := kit.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(patch)
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, is := strings.CutPrefix(strings.TrimSpace(line), "+++ b/")
		if !is {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, source, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, name)] = copied
	}
	apply := exec.CommandContext(context.Background(), "git", "apply", "-")
	apply.Dir, apply.Stdin = dir, strings.NewReader(string(text))
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%s does not fit the code any more: %v: %s", patch, err, out)
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, body, 0o644); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// TestDefectsFit: the patches fit the code as it is.
func TestDefectsFit(t *testing.T) {
	for _, patch := range defects(t) {
		broken(t, patch)
	}
}

// TestDefects: each defect is found. CHAOS_DEFECT names a single one.
func TestDefects(t *testing.T) {
	kit.Nightly(t, "chaos-defects")
	for _, patch := range defects(t) {
		name := strings.TrimSuffix(filepath.Base(patch), ".patch")
		if only := os.Getenv("CHAOS_DEFECT"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "chaos.test")
			build := exec.CommandContext(context.Background(), "go", "test", "-c", "-vet=off", "-overlay", broken(t, patch), "-o", program, ".")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("building with the defect: %v: %s", err, out)
			}
			for seed := 1; seed <= seeds; seed++ {
				run := exec.CommandContext(context.Background(), program, "-test.run", "^TestChaos$", "-test.v")
				run.Env = append(os.Environ(), fmt.Sprintf("CHAOS_SEED=%d", seed), "CHAOS_TIME=40s", "CHAOS_RESOURCES=60", "CHAOS_PATIENCE=90s")
				out, err := run.CombinedOutput()
				if err != nil && strings.Contains(string(out), "--- FAIL: TestChaos") {
					t.Logf("found with seed %d: %s", seed, found(string(out)))
					return
				}
				if err != nil {
					t.Fatalf("running with the defect: %v: %s", err, out)
				}
			}
			t.Errorf("not found with %d seeds", seeds)
		})
	}
}

// found is the first complaint of a run.
func found(out string) string {
	for line := range strings.Lines(out) {
		for _, sign := range []string{"the operator deleted", "children:", "Ready is", "is still there", "-theirs is", "writes, the first",
			"drawn again", "observedGeneration"} {
			if strings.Contains(line, sign) {
				return strings.TrimSpace(line)
			}
		}
	}
	return out
}
