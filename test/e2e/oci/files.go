// Package oci builds images out of files, without Docker: reproducible to the
// byte, as archives and for registries.
package oci

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// epoch is the time of everything in an image, so that the same files make the
// same image.
var epoch = time.Unix(0, 0).UTC()

// Files are the files of an image by their paths in it, which begin with a
// slash. All belong to root.
type Files struct {
	entries map[string]entry
}

// An entry is a file, a folder or a link.
type entry struct {
	kind byte
	mode fs.FileMode // permissions alone
	data []byte
	from string // the file on this machine that holds the data, if not ""
	link string
}

func (f *Files) put(name string, e entry) {
	if f.entries == nil {
		f.entries = map[string]entry{}
	}
	f.entries[path.Clean(name)] = e
}

// Add puts a file with this content in.
func (f *Files) Add(name string, mode fs.FileMode, data []byte) {
	f.put(name, entry{kind: tar.TypeReg, mode: mode, data: data})
}

// AddFolder puts a folder in. Folders that only lead to a file need not be put
// in: they are made with mode 0755.
func (f *Files) AddFolder(name string, mode fs.FileMode) {
	f.put(name, entry{kind: tar.TypeDir, mode: mode})
}

// AddFile puts a file of this machine in, which links may lead to. It has mode
// 0755 if somebody may execute it, and 0644 otherwise.
func (f *Files) AddFile(name, from string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("adding %s to an image: %w", from, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("adding %s to an image: it is no regular file", from)
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	f.put(name, entry{kind: tar.TypeReg, mode: mode, from: from})
	return nil
}

// AddTree puts everything below a folder of this machine in, links within it as
// links.
func (f *Files) AddTree(name, dir string) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		inside := path.Join(name, filepath.ToSlash(below))
		if target, err := os.Readlink(file); err == nil && filepath.IsLocal(filepath.Join(filepath.Dir(below), target)) {
			f.put(inside, entry{kind: tar.TypeSymlink, mode: 0o777, link: target})
			return nil
		}
		return f.AddFile(inside, file)
	})
}

// Names are the paths of all files, folders and links, sorted.
func (f *Files) Names() []string { return slices.Sorted(maps.Keys(f.entries)) }

// layer is the files as one layer, sorted by their paths.
func (f *Files) layer() (v1.Layer, error) {
	var text bytes.Buffer
	w := tar.NewWriter(&text)
	for _, name := range f.Names() {
		if err := f.entries[name].write(w, name[1:]); err != nil {
			return nil, fmt.Errorf("writing %s into a layer: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("writing a layer: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func (e entry) write(w *tar.Writer, name string) error {
	data := e.data
	if e.from != "" {
		var err error
		if data, err = os.ReadFile(e.from); err != nil {
			return err
		}
	}
	if e.kind == tar.TypeDir {
		name += "/"
	}
	header := &tar.Header{
		Typeflag: e.kind, Name: name, Linkname: e.link, Mode: int64(e.mode), Size: int64(len(data)), ModTime: epoch, Format: tar.FormatPAX,
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
