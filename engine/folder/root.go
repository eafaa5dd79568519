package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Root is a directory that holds crds/, templates/ and examples/. Nothing
// outside of it is read, links included.
type Root struct {
	// fsys is nil for a directory on disk.
	fsys fs.FS
	// dir is the absolute path of a directory on disk, or "".
	dir      string
	shown    string
	optional bool
}

// FromDir makes a root of a directory. It is opened by its path at each read, so
// that a directory or link that takes its place is read from then on; it need not
// exist yet. Errors call its files by dir and their path, or by their path alone
// when dir is ".".
func FromDir(dir string) *Root {
	r := &Root{dir: dir, shown: dir}
	if dir == "." {
		r.shown = ""
	}
	// By its absolute path, the working directory is read also after it was swapped.
	if absolute, err := filepath.Abs(dir); err == nil {
		r.dir = absolute
	}
	return r
}

// FromFS makes a root of a file system, such as an embed.FS. Errors call its
// files by shown and their path.
func FromFS(fsys fs.FS, shown string) *Root {
	return &Root{fsys: fsys, shown: shown, optional: true}
}

// AsOptional returns the root as one that need not hold anything: a current
// directory that nobody named may be any.
func (r *Root) AsOptional() *Root {
	with := *r
	with.optional = true
	return &with
}

// IsOptional reports whether the root need not hold anything.
func (r *Root) IsOptional() bool { return r.optional }

// Dir is the absolute path of a root on disk, or "".
func (r *Root) Dir() string { return r.dir }

// Shown is how errors call the root: the path that it was made with, or "".
func (r *Root) Shown() string { return r.shown }

// openRoot opens the root for one read. Its files are then those of one directory, also if another
// takes its place meanwhile.
func (r *Root) openRoot() (opened, func(), error) {
	if r.fsys != nil {
		return opened{r.fsys, r.shown}, func() {}, nil
	}
	dir, err := os.OpenRoot(r.dir)
	if err != nil {
		return opened{}, nil, fmt.Errorf("opening root: %w", err)
	}
	return opened{dir.FS(), r.shown}, func() { dir.Close() }, nil
}

// File is the text of one file, by its path in the root; nil if there is none.
func (r *Root) File(name string) ([]byte, error) {
	root, closeRoot, err := r.openRoot()
	if err != nil {
		return nil, err
	}
	defer closeRoot()
	f, err := readFile(root.fsys, root.shown, name)
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
	// HasTemplates: there is a directory templates/. IsEmpty: there is neither this
	// nor another directory of a root.
	HasTemplates, IsEmpty bool
}

// Read reads everything. Its error is about the root itself; what is wrong
// with a folder is in Broken, so that it hurts nobody else.
func (r *Root) Read() (*Contents, error) {
	root, closeRoot, err := r.openRoot()
	if err != nil {
		return nil, err
	}
	defer closeRoot()
	return root.read()
}

// An opened is a root that is being read.
type opened struct {
	fsys  fs.FS
	shown string
}

// The directories of a root.
const (
	templatesName = "templates"
	crdsName      = "crds"
	schemasName   = "schemas"
	examplesName  = "examples"
)

func (r opened) read() (*Contents, error) {
	c := &Contents{Folders: map[string]*Folder{}, Broken: map[string]error{}, HasTemplates: r.isDir(templatesName)}
	c.IsEmpty = !c.HasTemplates && !r.isDir(crdsName) && !r.isDir(schemasName) && !r.isDir(examplesName)
	var errs [3]error
	c.CRDs, errs[0] = r.readFiles(crdsName)
	c.Schemas, errs[1] = r.readFiles(schemasName)
	c.Examples, errs[2] = r.readFiles(examplesName)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	entries, err := r.list(templatesName)
	if err != nil {
		return nil, err
	}
	shared, err := r.readLib(entries)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || name == LibName {
			continue
		}
		// A folder that cannot be reached must not look like one that was removed.
		info, err := fs.Stat(r.fsys, path.Join(templatesName, name))
		if err != nil {
			c.Broken[name] = fmt.Errorf("reading folder %s: %w", path.Join(r.shown, templatesName, name), err)
			continue
		}
		if !info.IsDir() {
			continue
		}
		if f, err := readFolder(r.fsys, r.shown, name, shared); err != nil {
			c.Broken[name] = err
		} else {
			c.Folders[name] = f
		}
	}
	return c, nil
}

func (r opened) isDir(name string) bool {
	info, err := fs.Stat(r.fsys, name)
	return err == nil && info.IsDir()
}

// list lists a directory; an absent one is empty.
func (r opened) list(dir string) ([]fs.DirEntry, error) {
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
	// err is why no folder can use it.
	err error
}

// readLib reads the *.tpl and health.yaml of templates/_lib.
func (r opened) readLib(entries []fs.DirEntry) (lib, error) {
	var shared lib
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == LibName }) {
		return shared, nil
	}
	dir := path.Join(templatesName, LibName)
	files, err := r.list(dir)
	if err != nil {
		return shared, err
	}
	for _, e := range files {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".tpl") && e.Name() != HealthName {
			continue
		}
		f, err := readFile(r.fsys, r.shown, path.Join(dir, e.Name()))
		if err != nil {
			return shared, err
		}
		f.Data = Clean(f.Data)
		shared.err = errors.Join(shared.err, checkBlank(*f))
		if e.Name() == HealthName {
			f.Name, shared.health = LibHealthName, f
			continue
		}
		shared.partials = append(shared.partials, *f)
	}
	return shared, nil
}

// readFiles reads the *.yaml files of a directory, by name.
func (r opened) readFiles(dir string) ([]File, error) {
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
