package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A Root is a directory that holds crds/, templates/ and examples/. Nothing
// outside of it is read, links included.
type Root struct {
	fsys  fs.FS
	shown string
	dir   string // on disk, or ""
	close func() error
}

// Open opens a directory as a root. Errors call its files by dir and their
// path, or by their path alone when dir is ".".
func Open(dir string) (*Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening root: %w", err)
	}
	shown := dir
	if shown == "." {
		shown = ""
	}
	return &Root{fsys: root.FS(), shown: shown, dir: dir, close: root.Close}, nil
}

// FromFS makes a root of a file system, such as an embed.FS. Errors call its
// files by shown and their path.
func FromFS(fsys fs.FS, shown string) *Root {
	return &Root{fsys: fsys, shown: shown, close: func() error { return nil }}
}

// Close closes the root.
func (r *Root) Close() error { return r.close() }

// File is the text of one file, by its path in the root; nil if there is none.
func (r *Root) File(name string) ([]byte, error) {
	f, err := readFile(r.fsys, r.shown, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.Data, nil
}

// Contents is all that a root holds. Names are unique.
type Contents struct {
	Folders map[string]*Folder
	// Broken says what is wrong with folders that could not be read, by name.
	Broken map[string]error
	// CRDs, Schemas and Examples are the files of crds/, schemas/ and
	// examples/.
	CRDs, Schemas, Examples []File
}

// Read reads everything. Its error is about the root itself; what is wrong
// with a folder is in Broken, so that it hurts nobody else.
func (r *Root) Read() (*Contents, error) {
	c := &Contents{Folders: map[string]*Folder{}, Broken: map[string]error{}}
	var errs [3]error
	c.CRDs, errs[0] = r.files("crds")
	c.Schemas, errs[1] = r.files("schemas")
	c.Examples, errs[2] = r.files("examples")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	entries, err := r.list("templates")
	if err != nil {
		return nil, err
	}
	shared, err := r.lib(entries)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == LibName || !r.isDir(path.Join("templates", name)) {
			continue
		}
		if f, err := read(r.fsys, r.shown, name, shared); err != nil {
			c.Broken[name] = err
		} else {
			c.Folders[name] = f
		}
	}
	return c, nil
}

func (r *Root) isDir(name string) bool {
	info, err := fs.Stat(r.fsys, name)
	return err == nil && info.IsDir()
}

// list lists a directory; an absent one is empty.
func (r *Root) list(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path.Join(r.shown, dir), err)
	}
	return entries, nil
}

// A lib is what all folders of a root share.
type lib struct {
	partials []File
	health   *File
}

// lib reads the *.tpl and health.yaml of templates/_lib.
func (r *Root) lib(entries []fs.DirEntry) (lib, error) {
	var shared lib
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == LibName }) {
		return shared, nil
	}
	dir := path.Join("templates", LibName)
	files, err := r.list(dir)
	if err != nil {
		return shared, err
	}
	for _, e := range files {
		if !strings.HasSuffix(e.Name(), ".tpl") && e.Name() != HealthName {
			continue
		}
		f, err := readFile(r.fsys, r.shown, path.Join(dir, e.Name()))
		if err != nil {
			return shared, err
		}
		f.Data = Clean(f.Data)
		if e.Name() == HealthName {
			f.Name, shared.health = LibHealthName, f
			continue
		}
		shared.partials = append(shared.partials, *f)
	}
	return shared, nil
}

// files reads the *.yaml files of a directory, by name.
func (r *Root) files(dir string) ([]File, error) {
	entries, err := r.list(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".yaml") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f, err := readFile(r.fsys, r.shown, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		f.Data = Clean(f.Data)
		files = append(files, *f)
	}
	return files, nil
}

// Dirs lists the directories on disk whose changes change what Read returns;
// none for a root that is not on disk.
func (r *Root) Dirs() []string {
	if r.dir == "" {
		return nil
	}
	dirs := []string{r.dir, path.Join(r.dir, "templates")}
	entries, err := r.list("templates")
	if err != nil {
		return dirs
	}
	for _, e := range entries {
		for _, dir := range []string{path.Join("templates", e.Name()), path.Join("templates", e.Name(), filesName)} {
			if r.isDir(dir) {
				dirs = append(dirs, path.Join(r.dir, dir))
			}
		}
	}
	return dirs
}
