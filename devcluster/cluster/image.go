package cluster

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// pauseImage is the name of the image of every Pod's first process.
const pauseImage = "localhost/devcluster-pause:1"

// writePause writes an archive of the image to a file, from the program
// `pause` beside this one.
func writePause(to string) error {
	path, err := findProgram("pause")
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the program of the pause image: %w", err)
	}
	archive, err := imageArchive(pauseImage, "/pause", program)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, archive, 0o600); err != nil {
		return fmt.Errorf("writing the pause image: %w", err)
	}
	return nil
}

// imageArchive makes an image of one static program, in the format of `docker
// save` (https://github.com/moby/docker-image-spec, v1.2). The same program
// gives the same bytes.
func imageArchive(name, path string, program []byte) ([]byte, error) {
	layer, err := tarOf([]file{{path[1:], program, 0o755}})
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{path}, "User": "65535:65535"},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return nil, fmt.Errorf("making the image %s: %w", name, err)
	}
	manifest, err := json.Marshal([]any{map[string]any{"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return nil, fmt.Errorf("making the image %s: %w", name, err)
	}
	return tarOf([]file{{"config.json", config, 0o644}, {"layer.tar", layer, 0o644}, {"manifest.json", manifest, 0o644}})
}

// A file is an entry of a tar archive.
type file struct {
	name string
	data []byte
	mode int64
}

func tarOf(files []file) ([]byte, error) {
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data))}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.name, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("packing an archive: %w", err)
	}
	return buffer.Bytes(), nil
}
