package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/kind"
)

// The files of a golden case. cluster.yaml, config.yaml, want-status.yaml and,
// where no file waits, want-waiting.txt are optional; want-error.txt excludes the other wants.
const (
	fileResource    = "resource.yaml"
	fileCluster     = "cluster.yaml"
	fileConfig      = "config.yaml"
	FileWant        = "want.yaml"
	FileWantWaiting = "want-waiting.txt"
	FileWantError   = "want-error.txt"
	FileWantStatus  = "want-status.yaml"
)

// wants are the files that say what is wanted.
var wants = []string{FileWant, FileWantWaiting, FileWantError, FileWantStatus}

// givens are the files that say what there is.
var givens = []string{fileResource, fileCluster, fileConfig}

// renamedFiles are the present names of files of golden cases, by the name that they had before the
// first release.
var renamedFiles = map[string]string{"cr.yaml": fileResource, "want-waits.txt": FileWantWaiting}

// A Case is one golden case, templates/<name>/tests/<case>/, or one numbered
// step of it.
type Case struct {
	Kind *kind.Kind
	// Name is the directory's own name, with the number of the step behind a slash;
	// Dir is the directory, for people.
	Name, Dir string
	// Wants are the wanted texts by file: FileWant, FileWantWaiting, FileWantError
	// and FileWantStatus, as far as they are there.
	Wants map[string]string

	// root is the root on disk, inside the path of the directory in it.
	root, inside string
	givens       map[string]given
	// prefix begins the names of the files of a step; before is the step before.
	prefix string
	before *Case
}

// A given is a file that says what there is, perhaps that of an earlier step.
type given struct {
	name string
	data []byte
}

// Path is the path of one of the case's files, for people. A file that the step does
// not have is that of the step before, if it says what there is.
func (c *Case) Path(file string) string {
	if g, there := c.givens[file]; there {
		return g.name
	}
	return filepath.Join(c.Dir, c.prefix+file)
}

// Cases lists the golden cases of a sound kind by name. The error joins what
// is wrong with cases, such as a file that is none of theirs.
func (c *Catalog) Cases(name string) ([]*Case, error) {
	one := Case{Kind: c.Kinds[name], root: c.Roots[name], inside: path.Join("templates", name, "tests")}
	dir := filepath.Join(one.root, one.inside)
	root, closes, err := c.openRoot(one.root)
	if err != nil {
		return nil, fmt.Errorf("reading golden cases: %w", err)
	}
	defer closes()
	entries, err := fs.ReadDir(root, one.inside)
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
		steps, err := next.read(root)
		errs = append(errs, err)
		if err == nil {
			cases = append(cases, steps...)
		}
	}
	return cases, errors.Join(errs...)
}

// numbered is a file of a step.
var numbered = regexp.MustCompile(`^([1-9][0-9]{0,3})-(.+)$`)

// read reads the files of the case, or of its steps. A link leads to nothing outside
// of the root.
func (c *Case) read(root fs.FS) ([]*Case, error) {
	entries, err := fs.ReadDir(root, c.inside)
	if err != nil {
		return nil, fmt.Errorf("reading golden case %s: %w", c.Name, err)
	}
	known := slices.Concat(givens, wants)
	steps := map[int]*Case{}
	for _, e := range entries {
		number, file := 0, e.Name()
		if m := numbered.FindStringSubmatch(file); m != nil {
			number, _ = strconv.Atoi(m[1]) // digits, by the expression
			file = m[2]
		}
		if now := renamedFiles[file]; now != "" {
			return nil, fmt.Errorf("%s: this file is called %s now: rename it", filepath.Join(c.Dir, e.Name()),
				strings.TrimSuffix(e.Name(), file)+now)
		}
		if !slices.Contains(known, file) {
			return nil, fmt.Errorf("%s: a golden case holds only %s; those of a step begin with its number, such as 2-%s",
				filepath.Join(c.Dir, e.Name()), strings.Join(known, ", "), fileCluster)
		}
		data, err := readIn(root, path.Join(c.inside, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading golden case %s: %w", c.Name, err)
		}
		step := steps[number]
		if step == nil {
			step = c.newStep(number)
			steps[number] = step
		}
		if slices.Contains(givens, file) {
			step.givens[file] = given{filepath.Join(c.Dir, e.Name()), data}
		} else {
			step.Wants[file] = string(data)
		}
	}
	if steps[0] != nil && len(steps) > 1 {
		return nil, fmt.Errorf("%s: it has files with and without the number of a step: number them all, or none", c.Dir)
	}
	if steps[0] != nil || len(steps) == 0 {
		one := cmp.Or(steps[0], c.newStep(0))
		return []*Case{one}, one.checkWants()
	}
	return c.inOrder(steps)
}

// newStep returns an empty step of the case. Number 0 is the whole case.
func (c *Case) newStep(number int) *Case {
	one := *c
	one.Wants, one.givens = map[string]string{}, map[string]given{}
	if number > 0 {
		one.Name, one.prefix = fmt.Sprintf("%s/%d", c.Name, number), fmt.Sprintf("%d-", number)
	}
	return &one
}

// inOrder gives each step what it keeps of the step before.
func (c *Case) inOrder(steps map[int]*Case) ([]*Case, error) {
	var all []*Case
	for number := 1; number <= len(steps); number++ {
		step := steps[number]
		if step == nil {
			return nil, fmt.Errorf("%s: there is no step %d, and there is a later one: number the steps 1, 2, 3 …", c.Dir, number)
		}
		if err := step.checkWants(); err != nil {
			return nil, err
		}
		if number == 1 {
			if _, there := step.givens[fileResource]; !there {
				return nil, fmt.Errorf("%s: there is no 1-%s: the first step needs a resource", c.Dir, fileResource)
			}
		} else {
			step.before = all[number-2]
			own := step.givens
			step.givens = maps.Clone(step.before.givens)
			maps.Copy(step.givens, own)
		}
		all = append(all, step)
	}
	return all, nil
}

// has reports whether the step itself has a file, and does not keep it.
func (c *Case) has(file string) bool {
	g, there := c.givens[file]
	return there && g.name == filepath.Join(c.Dir, c.prefix+file)
}

// checkWants returns an error if the files want two things.
func (c *Case) checkWants() error {
	_, wantError := c.Wants[FileWantError]
	for _, file := range []string{FileWant, FileWantWaiting} {
		if _, want := c.Wants[file]; want && wantError {
			return fmt.Errorf("%s: it has both %s and %s: a resource renders or it does not",
				c.Dir, c.prefix+file, c.prefix+FileWantError)
		}
	}
	return nil
}

// readIn reads one regular file of a root.
func readIn(root fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(root, name) // to open a pipe would wait for somebody to write into it
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	return fs.ReadFile(root, name)
}

// Write writes one file of the case. A link leads to nothing outside of the root.
func (c *Case) Write(file, text string) error {
	return c.changeRoot(func(root *os.Root) error {
		return root.WriteFile(path.Join(c.inside, c.prefix+file), []byte(text), 0o644)
	})
}

// Remove removes one file of the case.
func (c *Case) Remove(file string) error {
	return c.changeRoot(func(root *os.Root) error { return root.Remove(path.Join(c.inside, c.prefix+file)) })
}

// changeRoot opens the root of the case on disk, and calls act with it.
func (c *Case) changeRoot(act func(*os.Root) error) error {
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
