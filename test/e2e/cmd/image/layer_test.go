package main

import (
	"archive/tar"
	"errors"
	"io"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// contents are the files of an image's one layer; none has a time or an owner.
func contents(t *testing.T, image v1.Image) map[string]string {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("the image has %d layers, %v", len(layers), err)
	}
	stream, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	found := map[string]string{}
	for r := tar.NewReader(stream); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.ModTime.Unix() != 0 || header.Uid != 0 || header.Gid != 0 || header.Mode != 0o755 {
			t.Errorf("%s is of %v, %d:%d, mode %o", header.Name, header.ModTime, header.Uid, header.Gid, header.Mode)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(text)
	}
}
