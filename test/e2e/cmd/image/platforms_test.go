package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/jacquard-operator/jacquard/test/e2e/oci"
)

// TestPlatforms: an archive for several machines holds one name, an index.
func TestPlatforms(t *testing.T) {
	stage, err := oci.ReadDockerfile(read(t, "Dockerfile"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var images []v1.Image
	for _, architecture := range []string{"amd64", "arm64"} {
		binary := filepath.Join(t.TempDir(), architecture)
		if err := os.WriteFile(binary, []byte("for "+architecture), 0o755); err != nil {
			t.Fatal(err)
		}
		image, err := buildImage(stage, "linux/"+architecture+"="+binary)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, image)
	}
	var archive bytes.Buffer
	digest, err := oci.WriteArchive(&archive, "example.com/jacquard:v1.2.3", images...)
	if err != nil {
		t.Fatal(err)
	}
	index := unpacked(t, &archive)
	outer, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(outer.Manifests) != 1 || outer.Manifests[0].Digest != digest ||
		outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "example.com/jacquard:v1.2.3" {
		t.Fatalf("the archive holds %+v", outer.Manifests)
	}
	inner, err := index.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		image, err := inner.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		platforms = append(platforms, m.Platform.String())
		if got := contents(t, image)["jacquard"]; got != "for "+m.Platform.Architecture {
			t.Errorf("the image for %s holds %q", m.Platform, got)
		}
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("the archive is for %v", platforms)
	}
}

// unpacked is the index of an archive.
func unpacked(t *testing.T, archive *bytes.Buffer) v1.ImageIndex {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("tar", "-x", "-C", dir)
	cmd.Stdin = archive
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("unpacking the archive: %v: %s", err, out)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	return index
}
