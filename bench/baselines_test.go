// Package bench has the tests of what is measured against.
package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBaselines: the baselines are those whose figures README.md has. Whoever
// changes one measures again, and writes down its new digest.
func TestBaselines(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"handwritten", "handwritten-ssa"} {
		if d := digest(t, filepath.Join("cmd", name, "*.go"), "appv1/*.go"); !strings.Contains(string(readme), d) {
			t.Errorf("cmd/%s has the digest %s, which README.md does not name", name, d)
		}
	}
}

// digest is the SHA-256 of files in the order of their paths, each preceded by
// its path and a line break.
func digest(t *testing.T, patterns ...string) string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	sum := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write([]byte(filepath.ToSlash(file) + "\n"))
		sum.Write(text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
