package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// run runs a program in a directory of the repository. Its environment says
// nothing that changes what is built.
func (r *release) run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(r.root, dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL"}, key)
	})
	cmd.Env = append(cmd.Env, "GOAMD64=v1", "GOARM64=v8.0", "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	if name == "make" { // which adds its own; an empty text would be that of go env -w
		cmd.Env = append(cmd.Env, "GOFLAGS=-trimpath")
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s in %s: %w", cmd, dir, err)
	}
	return nil
}

// versionStamps returns the variables that give make the version.
func (r *release) versionStamps() []string {
	return []string{"VERSION=" + r.version, "REVISION=" + r.commit}
}

// buildImage has make build the image, which also builds the binaries in it.
func (r *release) buildImage() error {
	if err := os.RemoveAll(r.output); err != nil {
		return err
	}
	if err := os.MkdirAll(r.output, 0o755); err != nil {
		return err
	}
	var linux []string
	r.imageBinaries = map[platform]string{}
	for _, p := range r.platforms {
		if p.os == "linux" {
			linux = append(linux, p.String())
			r.imageBinaries[p] = filepath.Join(r.work, p.os+"-"+p.arch)
		}
	}
	if len(linux) == 0 {
		return errors.New("the image needs a platform of Linux")
	}
	archive := filepath.Join(r.work, "image.tar")
	args := append([]string{"--no-print-directory", "image", "PLATFORMS=" + strings.Join(linux, ","), "IMAGE=" + imageName(r.version),
		"IMAGE_FILE=" + archive}, r.versionStamps()...)
	if err := r.run(".", "make", args...); err != nil {
		return err
	}
	if err := os.Rename(archive, filepath.Join(r.output, image)); err != nil {
		return err
	}
	var err error
	if r.digest, err = imageDigest(filepath.Join(r.output, image)); err != nil {
		return err
	}
	return r.writeImageBOM()
}

// imageDigest is the digest that an OCI archive with one image names.
func imageDigest(file string) (string, error) {
	archive, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer archive.Close()
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return "", fmt.Errorf("reading %s: it is no OCI archive", file)
		}
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		if header.Name != "index.json" {
			continue
		}
		var index struct{ Manifests []struct{ Digest string } }
		if err := json.NewDecoder(r).Decode(&index); err != nil {
			return "", fmt.Errorf("reading %s: %w", file, err)
		}
		if len(index.Manifests) != 1 {
			return "", fmt.Errorf("reading %s: it holds %d images", file, len(index.Manifests))
		}
		return index.Manifests[0].Digest, nil
	}
}

// buildBinaries builds the binaries with all commands, and packs each with the
// list of what is in it. Those of the image have only the operator's commands.
func (r *release) buildBinaries() error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	r.binaries = map[platform]string{}
	for _, p := range r.platforms {
		file := filepath.Join(r.work, p.fileStem())
		r.binaries[p] = file
		args := append([]string{"--no-print-directory", "build", "OUT=" + file, "GOOS=" + p.os, "GOARCH=" + p.arch}, r.versionStamps()...)
		if err := r.run(".", "make", args...); err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		members := []member{{"LICENSE", 0o644, license}, {p.binaryName(), 0o755, data}}
		if err := writeArchive(filepath.Join(r.output, p.archiveName()), r.time, members); err != nil {
			return err
		}
		if err := r.writeBinaryBOM(p); err != nil {
			return err
		}
	}
	return nil
}

// packageChart writes the chart and the manifests that are made of it.
func (r *release) packageChart() error {
	return r.run("charts", "go", "run", ".", "-version", r.version, "-time", strconv.FormatInt(r.time.Unix(), 10), "-package", r.output)
}

// packageEditor has make build the extension for editors.
func (r *release) packageEditor() error {
	if !r.editor {
		return nil
	}
	file := filepath.Join(r.work, editor)
	if err := r.run(".", "make", "--no-print-directory", "vsix", "OUT="+file, "VERSION="+r.version); err != nil {
		return err
	}
	return redateZip(file, filepath.Join(r.output, editor), r.time)
}
