package catalog

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A Cache keeps what was made of files for the next LoadTrees. It is for one goroutine
// at a time; a nil one keeps nothing.
type Cache struct {
	crds  map[string]parsedCRD
	kinds map[string]compiled
}

type parsedCRD struct {
	data string
	crd  *schema.CRD
	err  error
}

// compiled is what came of a folder: the same comes of the same files.
type compiled struct {
	digest, shown string
	crd           *schema.CRD
	kind          *kind.Kind
	err           error
}

// NewCache makes an empty cache.
func NewCache() *Cache { return &Cache{crds: map[string]parsedCRD{}, kinds: map[string]compiled{}} }

func (c *Cache) parse(file folder.File) (*schema.CRD, error) {
	if c == nil {
		return crdfile.Parse(file.Shown, file.Data)
	}
	last, known := c.crds[file.Shown]
	if !known || last.data != string(file.Data) {
		last = parsedCRD{data: string(file.Data)}
		last.crd, last.err = crdfile.Parse(file.Shown, file.Data)
		c.crds[file.Shown] = last
	}
	return last.crd, last.err
}

// compileFolder compiles a folder, unless the cache has what came of the same files.
func (c *Cache) compileFolder(f *folder.Folder, crd *schema.CRD) (*kind.Kind, error) {
	if c == nil {
		return kind.CompileWith(f, crd, typecheck.Check)
	}
	last, known := c.kinds[f.Name]
	if shown := firstShown(f); !known || last.digest != f.Digest || last.crd != crd || last.shown != shown {
		last = compiled{digest: f.Digest, shown: shown, crd: crd}
		last.kind, last.err = kind.CompileWith(f, crd, typecheck.Check)
		c.kinds[f.Name] = last
	}
	return last.kind, last.err
}

// firstShown tells the roots of two folders of the same contents apart.
func firstShown(f *folder.Folder) string {
	for _, file := range append(f.Children, f.Partials...) {
		return path.Dir(file.Shown)
	}
	return ""
}

// Example reads the example of a kind, examples/NAME.yaml; nil if there is none.
func (c *Catalog) Example(name string) (*File, error) {
	dir := c.Roots[name]
	file := filepath.Join(dir, "examples", name+".yaml")
	fsys := c.trees[dir]
	if fsys == nil {
		if _, err := os.Stat(file); err != nil {
			return nil, nil // without one, there is nothing to check
		}
		return Open(file, nil)
	}
	data, err := readIn(fsys, path.Join("examples", name+".yaml"))
	if err != nil {
		return nil, nil
	}
	return Read(file, data)
}

// openRoot opens a root. The caller calls closes at the end.
func (c *Catalog) openRoot(dir string) (fsys fs.FS, closes func(), err error) {
	if fsys := c.trees[dir]; fsys != nil {
		return fsys, func() {}, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), func() { root.Close() }, nil
}

// Samples is SHA-256 of the example and the golden cases of a kind: what Check finds in
// them changes only with it.
func (c *Catalog) Samples(name string) string {
	h := sha256.New()
	fsys, closes, err := c.openRoot(c.Roots[name])
	if err != nil {
		return ""
	}
	defer closes()
	for _, from := range []string{path.Join("examples", name+".yaml"), path.Join("templates", name, "tests")} {
		_ = fs.WalkDir(fsys, from, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // what cannot be read is a finding, whose place is the same each time
			}
			data, err := readIn(fsys, file)
			fmt.Fprintf(h, "%s %d %v\n", file, len(data), err)
			h.Write(data)
			return nil
		})
	}
	return string(h.Sum(nil))
}
