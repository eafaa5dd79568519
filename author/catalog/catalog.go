package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A Catalog is every kind of some roots. It is read-only once loaded and
// configured.
type Catalog struct {
	// Kinds are the sound kinds, by name.
	Kinds map[string]*kind.Kind
	// Broken says what is wrong with each other kind, by name.
	Broken map[string]error
	// CRDs are the sound definitions of crds/ by name, also those of broken
	// kinds; Schemas are those of schemas/.
	CRDs, Schemas map[string]*schema.CRD
	// Roots says in which root the folder of a kind lies, by name.
	Roots map[string]string
	// Trouble is what is wrong and belongs to no kind: a file of schemas/.
	Trouble []error

	folders map[string]*folder.Folder
	files   map[string]folder.File // of crds/, by the name of their definition
	schemas map[string]folder.File // of schemas/, likewise
	config  *kind.Config
	// defined says where each definition was read, by name, sound or not.
	defined map[string]string
	// trees are the roots that are not on disk as they are, by what errors call them.
	trees map[string]fs.FS
	kept  *Cache
}

// A Tree is a root that is read from a file system, such as one that shows what an
// editor has not saved yet.
type Tree struct {
	// Dir is what errors call the root; "." is not told.
	Dir string
	FS  fs.FS
}

// Load reads roots and compiles every kind in them. Its error is about a root
// as a whole; what is wrong with a kind is in Broken and hurts no other.
func Load(roots []string) (*Catalog, error) {
	c := newCatalog()
	for _, dir := range roots {
		if err := c.read(dir, folder.FromDir(dir)); err != nil {
			return nil, err
		}
	}
	if len(c.defined) == 0 && len(c.Roots) == 0 {
		return nil, fmt.Errorf("loading %s: there is nothing in crds/ and templates/", strings.Join(roots, ", "))
	}
	c.buildKinds()
	return c, nil
}

// LoadTrees is Load for file systems. What the cache has of files that did not change
// is not made again.
func LoadTrees(trees []Tree, cache *Cache) (*Catalog, error) {
	c := newCatalog()
	c.kept = cache
	for _, tree := range trees {
		shown := tree.Dir
		if shown == "." {
			shown = ""
		}
		c.trees[tree.Dir] = tree.FS
		if err := c.read(tree.Dir, folder.FromFS(tree.FS, shown)); err != nil {
			return nil, err
		}
	}
	c.buildKinds()
	return c, nil
}

// newCatalog returns a catalog without kinds.
func newCatalog() *Catalog {
	return &Catalog{
		Kinds: map[string]*kind.Kind{}, Broken: map[string]error{},
		CRDs: map[string]*schema.CRD{}, Schemas: map[string]*schema.CRD{}, Roots: map[string]string{},
		folders: map[string]*folder.Folder{}, files: map[string]folder.File{}, schemas: map[string]folder.File{},
		defined: map[string]string{}, trees: map[string]fs.FS{},
	}
}

// buildKinds makes kinds of what was read.
func (c *Catalog) buildKinds() {
	c.refuseTwins()
	for _, name := range slices.Sorted(maps.Keys(c.folders)) {
		c.compileKind(name)
	}
	c.refuseUnpaired()
}

// read takes in one root.
func (c *Catalog) read(dir string, root *folder.Root) error {
	contents, err := root.Read()
	if err != nil {
		return err
	}
	for _, file := range contents.CRDs {
		c.addDefinition(file)
	}
	for _, file := range contents.Schemas {
		crd, err := c.kept.parse(file)
		if err != nil {
			c.Trouble = append(c.Trouble, err)
			continue
		}
		c.Schemas[crd.Name], c.schemas[crd.Name] = crd, file
	}
	for name, f := range contents.Folders {
		if c.recordRoot(name, dir) {
			c.folders[name] = f
		}
	}
	for name, err := range contents.Broken {
		if c.recordRoot(name, dir) {
			c.addFault(name, err)
		}
	}
	return nil
}

// addFault adds an error to what is wrong with a kind.
func (c *Catalog) addFault(name string, err error) {
	c.Broken[name] = errors.Join(c.Broken[name], err)
}

// addDefinition takes in one file of crds/.
func (c *Catalog) addDefinition(file folder.File) {
	name := strings.TrimSuffix(file.Name, ".yaml")
	if first, taken := c.defined[name]; taken {
		c.addFault(name, fmt.Errorf("%s: this definition is in another root already: %s", file.Shown, first))
		return
	}
	crd, err := c.kept.parse(file)
	if err == nil && crd.Name != name {
		name, err = crd.Name, fmt.Errorf("%s: the file must be named as its definition: %s.yaml", file.Shown, crd.Name)
	}
	c.defined[name] = file.Shown
	if err != nil {
		c.addFault(name, err)
		return
	}
	c.CRDs[name], c.files[name] = crd, file
}

// Definition is the file of crds/ that defines a sound kind.
func (c *Catalog) Definition(name string) folder.File { return c.files[name] }

// Source is the name of the sound definition of a kind, and its file of crds/ or
// schemas/; "" if there is none.
func (c *Catalog) Source(gk apischema.GroupKind) (string, folder.File) {
	crd := c.findDefinition(gk)
	if crd == nil {
		return "", folder.File{}
	}
	if file, ours := c.files[crd.Name]; ours {
		return crd.Name, file
	}
	return crd.Name, c.schemas[crd.Name]
}

// recordRoot records in which root a folder lies. It returns false if the name of the folder is
// taken.
func (c *Catalog) recordRoot(name, dir string) bool {
	if first, taken := c.Roots[name]; taken {
		c.addFault(name, fmt.Errorf("%s: this folder is in another root already: %s",
			path.Join(dir, "templates", name), path.Join(first, "templates", name)))
		return false
	}
	c.Roots[name] = dir
	return true
}

// compileKind makes a kind of a folder that has its definition.
func (c *Catalog) compileKind(name string) {
	crd := c.CRDs[name]
	if crd == nil || c.Broken[name] != nil {
		return
	}
	k, err := c.kept.compileFolder(c.folders[name], crd)
	if err == nil {
		err = k.CheckScopes(c.scopeOf)
	}
	if err != nil {
		c.addFault(name, err)
		return
	}
	c.Kinds[name] = k.At(kind.Site{Scopes: c.scopeOf})
}

// Configure overrides the settings of the kinds by those of a file: a map of
// kinds' names to maps of keys to values. Its error names what the file says
// of kinds and keys that there are not, with places.
func (c *Catalog) Configure(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	config, err := kind.ReadConfig(file, data)
	if err != nil {
		return err
	}
	known := slices.Concat(slices.Collect(maps.Keys(c.Kinds)), slices.Collect(maps.Keys(c.Broken)))
	c.config = config
	errs := []error{config.Check(slices.Sorted(slices.Values(known)))}
	for name, k := range c.Kinds {
		with, err := config.Apply(k)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.Kinds[name] = with
	}
	return errors.Join(errs...)
}

// scopeOf reports whether a kind lives in no namespace, and whether its definition is known.
func (c *Catalog) scopeOf(gvk apischema.GroupVersionKind) (clusterScoped, known bool) {
	crd := c.findDefinition(gvk.GroupKind())
	return crd != nil && !crd.Namespaced, crd != nil
}

// findDefinition returns the definition of a kind in crds/ and schemas/, or nil.
func (c *Catalog) findDefinition(gk apischema.GroupKind) *schema.CRD {
	for _, among := range []map[string]*schema.CRD{c.CRDs, c.Schemas} {
		for _, crd := range among {
			if crd.Group == gk.Group && crd.Kind == gk.Kind {
				return crd
			}
		}
	}
	return nil
}

// Plural is the name by which the API serves a kind, by its definition in crds/
// or schemas/; "" without one.
func (c *Catalog) Plural(gvk apischema.GroupVersionKind) string {
	if crd := c.findDefinition(gvk.GroupKind()); crd != nil {
		return crd.Plural
	}
	return ""
}

// refuseUnpaired refuses folders without a definition, and definitions without a folder.
func (c *Catalog) refuseUnpaired() {
	for name, dir := range c.Roots {
		if _, defined := c.defined[name]; !defined {
			c.addFault(name, fmt.Errorf("%s: there is no CRD %s", path.Join(dir, "templates", name), path.Join(dir, "crds", name+".yaml")))
		}
	}
	for name, file := range c.defined {
		if _, housed := c.Roots[name]; !housed {
			c.addFault(name, fmt.Errorf("%s: there is no folder %s", file, path.Join(path.Dir(path.Dir(file)), "templates", name)))
		}
	}
}

// refuseTwins refuses a second definition of the same kind, as an API server
// would.
func (c *Catalog) refuseTwins() {
	first := map[apischema.GroupKind]*schema.CRD{}
	for _, name := range slices.Sorted(maps.Keys(c.CRDs)) {
		crd := c.CRDs[name]
		gk := apischema.GroupKind{Group: crd.Group, Kind: crd.Kind}
		if other := first[gk]; other != nil {
			c.addFault(name, fmt.Errorf("%s: %s defines the kind %s of this group already", crd.File, other.File, crd.Kind))
			continue
		}
		first[gk] = crd
	}
}

// Find returns the kind that a resource is of, by group and kind; nil with a
// nil error if it is none of this catalog's. The error says why the kind is
// broken.
func (c *Catalog) Find(gk apischema.GroupKind) (*kind.Kind, error) {
	for _, name := range slices.Sorted(maps.Keys(c.CRDs)) {
		if crd := c.CRDs[name]; crd.Group == gk.Group && crd.Kind == gk.Kind {
			if k := c.Kinds[name]; k != nil {
				return k, nil
			}
			return nil, c.Broken[name]
		}
	}
	return nil, c.groupTrouble(gk)
}

// groupTrouble is about a kind that no sound definition has, where something
// in its group is broken.
func (c *Catalog) groupTrouble(gk apischema.GroupKind) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Broken)) {
		if _, group, _ := strings.Cut(name, "."); group == gk.Group && c.CRDs[name] == nil {
			errs = append(errs, c.Broken[name])
		}
	}
	return errors.Join(errs...)
}

// Foreign reports whether schemas/ defines a kind: it has no folder, and needs none.
func (c *Catalog) Foreign(gk apischema.GroupKind) bool {
	crd := c.findDefinition(gk)
	return crd != nil && c.Schemas[crd.Name] == crd
}

// checkSpelling refuses an object of a kind that its group does not have, where the group is one of
// this catalog's.
func (c *Catalog) checkSpelling(o *Object, gk apischema.GroupKind) error {
	if c.Foreign(gk) {
		return nil
	}
	var known []string
	for _, crd := range c.CRDs {
		if crd.Group == gk.Group {
			known = append(known, crd.Kind)
		}
	}
	if known == nil {
		return nil
	}
	slices.Sort(known)
	near := cmp.Or(schema.Suggest(gk.Kind, known), known[0])
	return fmt.Errorf("%s: the group %s has no kind %s; did you mean %s?", o.Place("kind"), gk.Group, gk.Kind, near)
}

// Faults are everything that is wrong, by name of the kind.
func (c *Catalog) Faults() []error {
	errs := slices.Clone(c.Trouble)
	for _, name := range slices.Sorted(maps.Keys(c.Broken)) {
		errs = append(errs, c.Broken[name])
	}
	return errs
}

// With is the catalog with another version of one kind, and the same besides.
func (c *Catalog) With(f *folder.Folder, crd *schema.CRD) *Catalog {
	with := *c
	with.kept = nil
	with.Kinds, with.Broken = maps.Clone(c.Kinds), maps.Clone(c.Broken)
	with.CRDs, with.folders = maps.Clone(c.CRDs), maps.Clone(c.folders)
	delete(with.Kinds, f.Name)
	delete(with.Broken, f.Name)
	with.CRDs[f.Name], with.folders[f.Name] = crd, f
	with.compileKind(f.Name)
	return &with
}
