package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	// Name is the directory's own name, Dir the directory.
	Name, Dir string
	// Wants are the wanted texts by file: FileWant, FileWantWaits, FileWantError
	// and FileWantStatus, as far as they are there.
	Wants map[string]string
}

// Cases lists the golden cases of a sound kind by name. The error joins what
// is wrong with cases, such as a file that is none of theirs.
func (c *Catalog) Cases(name string) ([]*Case, error) {
	k := c.Kinds[name]
	dir := filepath.Join(c.Roots[name], "templates", name, "tests")
	entries, err := os.ReadDir(dir)
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
		one, err := readCase(k, e.Name(), filepath.Join(dir, e.Name()))
		errs = append(errs, err)
		if err == nil {
			cases = append(cases, one)
		}
	}
	return cases, errors.Join(errs...)
}

func readCase(k *kind.Kind, name, dir string) (*Case, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading golden case %s: %w", name, err)
	}
	one := &Case{Kind: k, Name: name, Dir: dir, Wants: map[string]string{}}
	for _, e := range entries {
		file := e.Name()
		switch {
		case slices.Contains(givens, file):
		case slices.Contains(wants, file):
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				return nil, fmt.Errorf("reading golden case %s: %w", name, err)
			}
			one.Wants[file] = string(text)
		default:
			known := append(slices.Clip(givens), wants...)
			return nil, fmt.Errorf("%s: a golden case holds only %s", filepath.Join(dir, file), strings.Join(known, ", "))
		}
	}
	_, wantError := one.Wants[FileWantError]
	for _, file := range []string{FileWant, FileWantWaits} {
		if _, want := one.Wants[file]; want && wantError {
			return nil, fmt.Errorf("%s: it has both %s and %s: a resource renders or it does not", dir, file, FileWantError)
		}
	}
	return one, nil
}
