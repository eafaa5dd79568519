package artefact

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// directories are those that an image may have files in.
var directories = []string{"crds", "examples", "packed", "schemas", "templates"}

var errTooLarge = fmt.Errorf("it has more than %d bytes unpacked", MaxSize)

// A bounded reader fails after MaxSize bytes.
type bounded struct {
	io.Reader
	read int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.read += n; b.read > MaxSize {
		return 0, errTooLarge
	}
	return n, err
}

// unpackLayer reads a layer. It trusts nothing of it: a signature shows who made an image, and not
// that it is well made.
func unpackLayer(compressed []byte) (Files, error) {
	gz, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("reading the layer: %w", err)
	}
	archive := tar.NewReader(&bounded{Reader: gz})
	files, left := Files{}, int64(MaxSize)
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) && entries > 0 {
			return files, nil
		}
		if err == nil && entries == MaxFiles {
			err = fmt.Errorf("it has more than %d files and directories", MaxFiles)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the layer: %w", err)
		}
		if err := checkEntry(header); err != nil {
			return nil, fmt.Errorf("the layer has %q: %w", header.Name, err)
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if _, twice := files[header.Name]; twice {
			return nil, fmt.Errorf("the layer has %q twice", header.Name)
		}
		// A sparse file is larger than what was read of the archive for it.
		data, err := io.ReadAll(io.LimitReader(archive, left+1))
		if left -= int64(len(data)); err == nil && left < 0 {
			err = errTooLarge
		}
		if err != nil {
			return nil, fmt.Errorf("reading %q of the layer: %w", header.Name, err)
		}
		files[header.Name] = data
	}
}

// checkEntry refuses what is no file or directory of a root.
func checkEntry(header *tar.Header) error {
	entry := header.Name
	switch header.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir:
		entry = strings.TrimSuffix(entry, "/")
	default:
		return errors.New("only files and directories are accepted, no links and no devices")
	}
	top, below, _ := strings.Cut(entry, "/")
	switch {
	case !fs.ValidPath(entry) || !filepath.IsLocal(filepath.FromSlash(entry)) || strings.ContainsAny(entry, "\\\x00"):
		return errors.New("a path must be relative, without . and .. in it")
	case !slices.Contains(directories, top) || below == "" && header.Typeflag == tar.TypeReg:
		return fmt.Errorf("files are accepted only in %s", strings.Join(directories, "/, ")+"/")
	}
	return nil
}

// Write writes the files into a root. If other files are in their place, it
// writes nothing, or with force replaces them. Each file appears as a whole.
func (f Files) Write(dir string, force bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing into %s: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("writing into %s: %w", dir, err)
	}
	defer root.Close()
	if err := f.write(root, force); err != nil {
		return fmt.Errorf("writing into %s: %w", dir, err)
	}
	return nil
}

func (f Files) write(root *os.Root, force bool) (err error) {
	stale, err := f.findStale(root)
	if err != nil {
		return err
	}
	var differ []string
	for _, file := range slices.Sorted(maps.Keys(f)) {
		data, err := root.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && !bytes.Equal(data, f[file]) {
			differ = append(differ, file)
		}
	}
	if all := slices.Concat(differ, stale); len(all) > 0 && !force {
		return fmt.Errorf("nothing is written, since these files are not those of the image: %s; --force replaces them", strings.Join(all, ", "))
	}
	scratch, err := os.MkdirTemp(root.Name(), ".pull-")
	if err != nil {
		return err
	}
	scratch = filepath.Base(scratch)
	defer func() { err = errors.Join(err, root.RemoveAll(scratch)) }()
	for file, data := range f {
		to := path.Join(scratch, file)
		if err := errors.Join(root.MkdirAll(path.Dir(to), 0o755), root.WriteFile(to, data, 0o644)); err != nil {
			return err
		}
	}
	for file := range f { // nothing is replaced unless everything could be written
		if err := errors.Join(root.MkdirAll(path.Dir(file), 0o755), root.Rename(path.Join(scratch, file), file)); err != nil {
			return err
		}
	}
	for _, file := range stale {
		if err := root.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// findStale returns the files of the kinds' folders that are not in the image: they would be a part
// of the kinds. Golden cases are not.
func (f Files) findStale(root *os.Root) ([]string, error) {
	var found []string
	seen := map[string]bool{}
	for file := range f {
		parts := strings.SplitN(file, "/", 3)
		if parts[0] != "templates" || len(parts) < 3 || parts[1] == folder.LibName || seen[parts[1]] {
			continue
		}
		seen[parts[1]] = true
		dir := path.Join(parts[:2]...)
		err := fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && name == dir:
				return nil
			case err != nil:
				return err
			case d.IsDir() && name == path.Join(dir, "tests"):
				return fs.SkipDir
			}
			if _, ours := f[name]; !ours && !d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
				found = append(found, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, nil
}
