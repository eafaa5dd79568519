package oci

import (
	"archive/tar"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// WriteArchive writes images that are the same but for their platform, under
// one name, as a tar of an OCI image layout: what podman, skopeo, ctr and nerdctl
// load. Several images become an index. It returns the digest that the name
// stands for.
func WriteArchive(w io.Writer, name string, images ...v1.Image) (v1.Hash, error) {
	names := map[string]string{
		"org.opencontainers.image.ref.name": name, // podman, skopeo
		"io.containerd.image.name":          name,
	}
	add, err := named(images)
	if err != nil {
		return v1.Hash{}, err
	}
	add.Annotations = names
	dir, err := os.MkdirTemp("", "oci-layout-")
	if err != nil {
		return v1.Hash{}, fmt.Errorf("writing the image %s: %w", name, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := layout.Write(dir, mutate.AppendManifests(empty.Index, add)); err != nil {
		return v1.Hash{}, fmt.Errorf("writing the image %s: %w", name, err)
	}
	if err := writeTree(w, dir); err != nil {
		return v1.Hash{}, fmt.Errorf("writing the image %s: %w", name, err)
	}
	described, ok := add.Add.(interface{ Digest() (v1.Hash, error) })
	if !ok {
		return v1.Hash{}, fmt.Errorf("writing the image %s: it has no digest", name)
	}
	return described.Digest()
}

// named is what a name stands for: the image, or an index of several.
func named(images []v1.Image) (mutate.IndexAddendum, error) {
	var adds []mutate.IndexAddendum
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return mutate.IndexAddendum{}, fmt.Errorf("reading an image's platform: %w", err)
		}
		adds = append(adds, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	if len(adds) == 1 {
		return adds[0], nil
	}
	return mutate.IndexAddendum{Add: mutate.AppendManifests(empty.Index, adds...)}, nil
}

// writeTree writes the files below a folder, sorted by their names.
func writeTree(w io.Writer, dir string) error {
	archive := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return entry{kind: tar.TypeReg, mode: 0o644, from: file}.write(archive, filepath.ToSlash(below))
	})
	if err != nil {
		return err
	}
	return archive.Close()
}
