package artefact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The bounds of an image's layer: bytes, and files and directories.
const (
	MaxSize  = 64 << 20
	MaxFiles = 10_000
)

// platforms are those of the nodes that may mount an image.
var platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

// epoch is the time of everything in an image, so that the same files make the
// same image.
var epoch = time.Unix(0, 0).UTC()

// Image makes an image of the files. The same files and annotations give the
// same digest.
func (f Files) Image(annotations map[string]string) (v1.ImageIndex, error) {
	layer, err := f.makeLayer()
	if err != nil {
		return nil, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		image, err = mutate.ConfigFile(image, &v1.ConfigFile{Created: v1.Time{Time: epoch}, OS: platform.OS,
			Architecture: platform.Architecture, RootFS: v1.RootFS{Type: "layers"}})
		if err != nil {
			return nil, fmt.Errorf("configuring an image: %w", err)
		}
		history := v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "jacquard push"}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: history}); err != nil {
			return nil, fmt.Errorf("putting files into an image: %w", err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: addAnnotations(image, annotations).(v1.Image),
			Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return addAnnotations(index, annotations).(v1.ImageIndex), nil
}

// addAnnotations returns an image or index with annotations, if there are any.
func addAnnotations(of interface{ RawManifest() ([]byte, error) }, annotations map[string]string) any {
	if len(annotations) == 0 {
		return of
	}
	return mutate.Annotations(of, annotations)
}

// A layer is compressed content that knows the digest of the archive in it.
type layer struct {
	v1.Layer
	archive v1.Hash
}

// DiffID is the digest of the archive.
func (l layer) DiffID() (v1.Hash, error) { return l.archive, nil }

// makeLayer returns the files as a layer.
func (f Files) makeLayer() (v1.Layer, error) {
	archive, err := f.makeArchive()
	if err != nil {
		return nil, fmt.Errorf("writing a layer: %w", err)
	}
	var text bytes.Buffer
	w := gzip.NewWriter(&text)
	if _, err := w.Write(archive); err != nil {
		return nil, fmt.Errorf("compressing a layer: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compressing a layer: %w", err)
	}
	hash, _, err := v1.SHA256(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("digesting a layer: %w", err)
	}
	return layer{static.NewLayer(text.Bytes(), types.OCILayer), hash}, nil
}

// makeArchive returns the files as a sorted tar. It has the directories that hold them too, since
// not every program that unpacks layers makes them.
func (f Files) makeArchive() ([]byte, error) {
	entries := maps.Clone(f)
	for file := range f {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			entries[dir+"/"] = nil
		}
	}
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: entry, Mode: 0o644, Size: int64(len(entries[entry])), ModTime: epoch}
		if entry[len(entry)-1] == '/' {
			header.Typeflag, header.Mode = tar.TypeDir, 0o755
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(entries[entry]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if text.Len() > MaxSize || len(entries) > MaxFiles {
		return nil, fmt.Errorf("%d bytes in %d files and directories are more than the %d bytes and %d files that pull accepts",
			text.Len(), len(entries), MaxSize, MaxFiles)
	}
	return text.Bytes(), nil
}
