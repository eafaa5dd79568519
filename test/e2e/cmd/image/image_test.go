package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
)

const root = "../../../.."

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestConfig: the image is what the Dockerfile says, which says what the chart
// relies on.
func TestConfig(t *testing.T) {
	stage, err := oci.ReadDockerfile(read(t, "Dockerfile"), map[string]string{"VERSION": "v1.2.3", "REVISION": "0123abc"})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, []byte("the program"), 0o755); err != nil {
		t.Fatal(err)
	}
	image, err := buildImage(stage, "linux/arm64="+binary)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.OS != "linux" || file.Architecture != "arm64" {
		t.Errorf("the image is for %s/%s", file.OS, file.Architecture)
	}
	config := file.Config
	if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/jacquard"}) || !slices.Equal(config.Cmd, []string{"run"}) {
		t.Errorf("the image runs %q %q as %s", config.Entrypoint, config.Cmd, config.User)
	}
	for label, want := range map[string]string{"version": "v1.2.3", "revision": "0123abc", "licenses": "Apache-2.0", "title": "Jacquard"} {
		if got := config.Labels["org.opencontainers.image."+label]; got != want {
			t.Errorf("the label %s is %q; %q was expected", label, got, want)
		}
	}
	if got := contents(t, image); !maps.Equal(got, map[string]string{"jacquard": "the program"}) {
		t.Errorf("the image holds %v", got)
	}
}

// TestOneBuildLine: Docker builds by the Makefile's line too.
func TestOneBuildLine(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	if !strings.Contains(dockerfile, "make build GOTAGS=operator OUT=/out/jacquard\n") || strings.Contains(dockerfile, "go build") {
		t.Error("the Dockerfile's first stage should call make build with the tag operator")
	}
}

// TestReproducible: what Docker is sent, at another place, makes the very same
// image as the checkout; and the version is stamped into it.
func TestReproducible(t *testing.T) {
	there := dockerContext(t)
	digests := map[string]v1.Hash{}
	for _, dir := range []string{root, there} {
		out := filepath.Join(t.TempDir(), "jacquard")
		cmd := exec.Command("make", "build", "GOTAGS=operator", "OUT="+out, "VERSION=v1.2.3", "REVISION=0123abc")
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make build in %s: %v\n%s", dir, err, text)
		}
		text, err := exec.Command(out, "version").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(text), "jacquard v1.2.3 go1.") || !strings.Contains(string(text), "\ncommit 0123abc\n") {
			t.Errorf("jacquard version says %q, %v", text, err)
		}
		digests[dir] = archive(t, out)
	}
	if digests[root] != digests[there] {
		t.Errorf("the image differs with where it is built: %v", digests)
	}
}

// archive writes the archive twice and returns the image's digest.
func archive(t *testing.T, binary string) v1.Hash {
	t.Helper()
	stage, err := oci.ReadDockerfile(read(t, "Dockerfile"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]strings.Builder
	var digest v1.Hash
	for i := range texts {
		image, err := buildImage(stage, "linux/amd64="+binary)
		if err != nil {
			t.Fatal(err)
		}
		if digest, err = oci.WriteArchive(&texts[i], "example.com/jacquard:v1.2.3", image); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Error("the archive is another one each time")
	}
	return digest
}

// dockerContext copies what .dockerignore lets through to another place.
func dockerContext(t *testing.T) string {
	t.Helper()
	var kept, dropped []string
	for line := range strings.Lines(read(t, ".dockerignore")) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "!"); ok {
			kept = append(kept, name)
		} else if line != "" && line != "*" && !strings.HasPrefix(line, "#") {
			dropped = append(dropped, line)
		}
	}
	target := t.TempDir()
	for _, name := range kept {
		err := filepath.WalkDir(filepath.Join(root, name), func(file string, d fs.DirEntry, err error) error {
			below, relErr := filepath.Rel(root, file)
			if err != nil || relErr != nil {
				return err
			}
			if ignored(filepath.ToSlash(below), dropped) {
				if d.IsDir() {
					return filepath.SkipDir
				}
				return nil
			}
			return place(file, filepath.Join(target, below), d)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return target
}

func ignored(file string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if anywhere, ok := strings.CutPrefix(pattern, "**/"); ok {
			matched, _ := path.Match(anywhere, path.Base(file))
			return matched
		}
		return file == pattern
	})
}

func place(from, to string, d fs.DirEntry) error {
	if d.IsDir() {
		return os.MkdirAll(to, 0o755)
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
