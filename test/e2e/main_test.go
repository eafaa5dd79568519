// Package e2e_test holds the end-to-end tests: the chart on a real node, where
// Pods really run. `make e2e` runs them.
package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// repository is the root of the repository, as seen from here.
const repository = "../.."

// TestMain ends what a test brought up.
func TestMain(m *testing.M) {
	code := m.Run()
	down()
	os.Exit(code)
}

// bin is where the programs are: those of make devcluster, build and helm.
func bin(program string) string {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return filepath.Join(dir, program)
	}
	return filepath.Join(repository, ".bin", program)
}

// needs ends the test where there can be no real node, or where make e2e has
// not built what the tests run.
func needs(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		absent(t, "a real node needs root", false)
	}
	if _, err := exec.LookPath("jlink"); err != nil {
		absent(t, "there is no jlink: apt-get install default-jdk-headless", true)
	}
	for _, program := range []string{"devcluster", "containerd/containerd", "jacquard", "helm", "helm3", "image/jacquard.tar"} {
		if _, err := os.Stat(bin(program)); err != nil {
			absent(t, fmt.Sprintf("there is no %s: make e2e", bin(program)), true)
		}
	}
}

// absent skips the test for what the machine lacks. In CI, what could have been
// there must be.
func absent(t *testing.T, reason string, available bool) {
	t.Helper()
	if available && os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
