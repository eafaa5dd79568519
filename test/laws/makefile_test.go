package laws

import (
	"os/exec"
	"regexp"
	"slices"
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

// TestNightlyParts: the workflow that runs each night has a job for each part of make nightly.
func TestNightlyParts(t *testing.T) {
	parts := func(name, pattern string) []string {
		m := regexp.MustCompile(pattern).FindSubmatch(read(t, name))
		if m == nil {
			t.Fatalf("%s has no list of parts", name)
		}
		return strings.Fields(strings.ReplaceAll(string(m[1]), ",", " "))
	}
	made := parts("Makefile", `(?m)^PARTS := (.*)$`)
	if run := parts(".github/workflows/nightly.yml", `(?m)^ +part: \[(.*)\]$`); !slices.Equal(run, made) {
		t.Errorf("the workflow runs %v, make nightly %v", run, made)
	}
}
