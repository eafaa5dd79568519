package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestReleasedHasNoProfiles: the variable that says where profiles are served is
// known to a binary that is built with the tag profile, and to no other.
func TestReleasedHasNoProfiles(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the operator twice")
	}
	for tags, want := range map[string]bool{"": false, "profile": true} {
		binary := filepath.Join(t.TempDir(), "jacquard")
		build := exec.Command("go", "build", "-tags", tags, "-o", binary, ".")
		build.Dir = ".."
		if said, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		text, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		if has := bytes.Contains(text, []byte("JACQUARD_PPROF")); has != want {
			t.Errorf("built with the tag %q it knows JACQUARD_PPROF: %v", tags, has)
		}
	}
}
