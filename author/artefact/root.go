package artefact

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/pack"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
)

// Files are the files of a root, by their paths in it.
type Files map[string][]byte

// A Selection says which kinds an image holds.
type Selection struct {
	Kinds *catalog.Catalog
	// Names are names of sound kinds.
	Names []string
	// Install is the installation that packed/ is for.
	Install pack.Install
	// Tests: the golden cases belong to it.
	Tests bool
}

// Files are the kinds as a root: their CRDs, folders and examples, the
// definitions of other kinds that they need, and in packed/ what pack writes.
func (s Selection) Files() (Files, error) {
	files := Files{}
	for _, name := range s.Names {
		if err := s.add(files, name); err != nil {
			return nil, err
		}
	}
	return files, s.addHealth(files)
}

// addHealth adds the health expressions that the kinds use of those of their roots.
func (s Selection) addHealth(files Files) error {
	kinds := make([]*kind.Kind, len(s.Names))
	for i, name := range s.Names {
		kinds[i] = s.Kinds.Kinds[name]
	}
	text, err := mergeRootHealth(kinds)
	if err != nil {
		return fmt.Errorf("%w: push their kinds into different images", err)
	}
	if text == nil {
		return nil
	}
	return files.addFile(path.Join("templates", folder.LibName, folder.HealthName), text)
}

func (s Selection) add(files Files, name string) error {
	if err := files.addFile("crds/"+name+".yaml", s.Kinds.Definition(name).Data); err != nil {
		return err
	}
	f := s.Kinds.Folder(name)
	all := slices.Concat(f.Children, f.Files)
	for _, file := range []*folder.File{f.Status, f.Settings, f.Config} {
		if file != nil {
			all = append(all, *file)
		}
	}
	for _, file := range f.Partials {
		switch {
		case !folder.IsLib(file):
			all = append(all, file)
		case s.Kinds.Kinds[name].Templates.Calls(file.Shown):
			if err := files.addFile(path.Join("templates", folder.LibName, file.Name), file.Data); err != nil {
				return err
			}
		}
	}
	for _, file := range all {
		if err := files.addFile(path.Join("templates", name, file.Name), file.Data); err != nil {
			return err
		}
	}
	if err := s.addBeside(files, name); err != nil {
		return err
	}
	return s.addPacked(files, name)
}

// addBeside adds the example of a kind, and its golden cases if they are wanted.
func (s Selection) addBeside(files Files, name string) error {
	root, err := os.OpenRoot(s.Kinds.Roots[name])
	if err != nil {
		return fmt.Errorf("opening root: %w", err)
	}
	defer root.Close()
	below := []string{"examples/" + name + ".yaml"}
	if s.Tests {
		below = append(below, path.Join("templates", name, "tests"))
	}
	for _, start := range below {
		if _, err := root.Stat(start); err != nil {
			continue
		}
		err := fs.WalkDir(root.FS(), start, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := root.ReadFile(file)
			if err != nil {
				return err
			}
			return files.addFile(file, folder.Clean(data))
		})
		if err != nil {
			return fmt.Errorf("reading %s: %w", path.Join(root.Name(), start), err)
		}
	}
	return nil
}

// addPacked adds what pack writes of a kind, and the definitions that it asks
// for: nothing else is needed of kinds that are not built in.
func (s Selection) addPacked(files Files, name string) error {
	var asked []apischema.GroupKind
	plural := func(gvk apischema.GroupVersionKind) string {
		asked = append(asked, gvk.GroupKind())
		return s.Kinds.Plural(gvk)
	}
	var roles, rest bytes.Buffer
	in := pack.Input{Kind: s.Kinds.Kinds[name], Folder: s.Kinds.Folder(name), CRD: s.Kinds.Definition(name), Plural: plural}
	if err := errors.Join(pack.Write(&roles, in, s.Install, pack.Parts[:1]), pack.Write(&rest, in, s.Install, pack.Parts[1:])); err != nil {
		return err
	}
	// Roles say by which line of the folder they are needed; where the root lies is no part of it.
	from := path.Join(s.Kinds.Roots[name], "templates") + "/"
	text := append(bytes.ReplaceAll(roles.Bytes(), []byte(from), []byte("templates/")), rest.Bytes()...)
	for _, gk := range asked {
		crd, file := s.Kinds.Source(gk)
		if crd == "" || slices.Contains(s.Names, crd) {
			continue
		}
		if err := files.addFile("schemas/"+crd+".yaml", file.Data); err != nil {
			return err
		}
	}
	return files.addFile("packed/"+name+".yaml", text)
}

// addFile adds a file. It fails if another root has a different file of this name.
func (f Files) addFile(file string, data []byte) error {
	if other, taken := f[file]; taken && !bytes.Equal(other, data) {
		return fmt.Errorf("%s: two roots have different files of this name: push their kinds into different images", file)
	}
	f[file] = data
	return nil
}
