package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// The files of a golden case. cluster.yaml, config.yaml, want-status.yaml and,
// where no file waits, want-waits.txt are optional; want-error.txt excludes the other wants.
const (
	fileResource   = "cr.yaml"
	fileCluster    = "cluster.yaml"
	fileConfig     = "config.yaml"
	FileWant       = "want.yaml"
	FileWantWaits  = "want-waits.txt"
	FileWantError  = "want-error.txt"
	FileWantStatus = "want-status.yaml"
)

// wants are the files that say what is wanted.
var wants = []string{FileWant, FileWantWaits, FileWantError, FileWantStatus}

// givens are the files that say what there is.
var givens = []string{fileResource, fileCluster, fileConfig}

// A Case is one golden case: templates/<name>/tests/<case>/.
type Case struct {
	Kind *kind.Kind
	// Name is the directory's own name, Dir the directory, for people.
	Name, Dir string
	// Wants are the wanted texts by file: FileWant, FileWantWaits, FileWantError
	// and FileWantStatus, as far as they are there.
	Wants map[string]string

	// root is the root on disk, inside the path of the directory in it.
	root, inside string
	givens       map[string][]byte
}

// Cases lists the golden cases of a sound kind by name. The error joins what
// is wrong with cases, such as a file that is none of theirs.
func (c *Catalog) Cases(name string) ([]*Case, error) {
	one := Case{Kind: c.Kinds[name], root: c.Roots[name], inside: path.Join("templates", name, "tests")}
	dir := filepath.Join(one.root, one.inside)
	root, err := os.OpenRoot(one.root)
	if err != nil {
		return nil, fmt.Errorf("reading golden cases: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), one.inside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading golden cases: %w", err)
	}
	var cases []*Case
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if !e.IsDir() {
			stem, _, _ := strings.Cut(e.Name(), ".")
			errs = append(errs, fmt.Errorf("%s: tests/ holds a folder for each case: move this file into one, such as tests/%s/%s",
				filepath.Join(dir, e.Name()), stem, fileResource))
			continue
		}
		next := one
		next.Name, next.Dir, next.inside = e.Name(), filepath.Join(dir, e.Name()), path.Join(one.inside, e.Name())
		err := next.read(root)
		errs = append(errs, err)
		if err == nil {
			cases = append(cases, &next)
		}
	}
	return cases, errors.Join(errs...)
}

// read reads the files of the case. A link leads to nothing outside of the root.
func (c *Case) read(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), c.inside)
	if err != nil {
		return fmt.Errorf("reading golden case %s: %w", c.Name, err)
	}
	c.Wants, c.givens = map[string]string{}, map[string][]byte{}
	known := slices.Concat(givens, wants)
	for _, e := range entries {
		file := e.Name()
		if !slices.Contains(known, file) {
			return fmt.Errorf("%s: a golden case holds only %s", filepath.Join(c.Dir, file), strings.Join(known, ", "))
		}
		data, err := readIn(root, path.Join(c.inside, file))
		if err != nil {
			return fmt.Errorf("reading golden case %s: %w", c.Name, err)
		}
		if slices.Contains(givens, file) {
			c.givens[file] = data
		} else {
			c.Wants[file] = string(data)
		}
	}
	_, wantError := c.Wants[FileWantError]
	for _, file := range []string{FileWant, FileWantWaits} {
		if _, want := c.Wants[file]; want && wantError {
			return fmt.Errorf("%s: it has both %s and %s: a resource renders or it does not", c.Dir, file, FileWantError)
		}
	}
	return nil
}

// readIn reads one regular file of a root.
func readIn(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name) // to open a pipe would wait for somebody to write into it
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	return root.ReadFile(name)
}

// Write writes one file of the case. A link leads to nothing outside of the root.
func (c *Case) Write(file, text string) error {
	return c.change(func(root *os.Root) error { return root.WriteFile(path.Join(c.inside, file), []byte(text), 0o644) })
}

// Remove removes one file of the case.
func (c *Case) Remove(file string) error {
	return c.change(func(root *os.Root) error { return root.Remove(path.Join(c.inside, file)) })
}

func (c *Case) change(act func(*os.Root) error) error {
	root, err := os.OpenRoot(c.root)
	if err == nil {
		defer root.Close()
		err = act(root)
	}
	if err != nil {
		return fmt.Errorf("updating golden case %s: %w", c.Name, err)
	}
	return nil
}
