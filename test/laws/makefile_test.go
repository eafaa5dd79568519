package laws

import (
	"os/exec"
	"strings"
	"testing"
)

// TestImageVersion: an image is of the version that its tag says, unless VERSION
// says another.
func TestImageVersion(t *testing.T) {
	for _, c := range [][]string{
		{"v9.8.7", "IMAGE=example.org:5000/team/jacquard:v9.8.7"},
		{"mine", "IMAGE=jacquard:v9.8.7", "VERSION=mine"},
	} {
		out, err := exec.Command("make", append([]string{"--no-print-directory", "-n", "build"}, c[1:]...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !strings.Contains(string(out), "cli.version="+c[0]+" ") {
			t.Errorf("make image %v is not of %s:\n%s", c[1:], c[0], out)
		}
	}
}
