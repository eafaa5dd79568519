package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// namedTest matches a test that a document names, with its package.
	namedTest = regexp.MustCompile("`([a-z0-9/]+) ((?:Test|Fuzz)[A-Za-z0-9]+)`")
	// declaredTest matches a test of a file of tests.
	declaredTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9]+)\(`)
)

// placeTests writes the package that each test of a page is in now. Each row of a table has
// to name a test in its last cell, or to say that there is none.
func placeTests(root, page string) (string, error) {
	places, err := findTests(root)
	if err != nil {
		return "", err
	}
	var errs []error
	for _, row := range parseRows(page) {
		if last := row[len(row)-1]; !namedTest.MatchString(last) && !strings.Contains(last, "**not yet**") {
			errs = append(errs, fmt.Errorf("this row names no test in its last cell, and does not say **not yet**: %s", row[0]))
		}
	}
	want := namedTest.ReplaceAllStringFunc(page, func(named string) string {
		m := namedTest.FindStringSubmatch(named)
		switch of := places[m[2]]; {
		case slices.Contains(of, m[1]):
		case len(of) == 1:
			return "`" + of[0] + " " + m[2] + "`"
		case len(of) == 0:
			errs = append(errs, fmt.Errorf("it names %s, and no package has this test", m[2]))
		default:
			errs = append(errs, fmt.Errorf("it names %s %s, and that test is in %s: name one of them", m[1], m[2], strings.Join(of, " and ")))
		}
		return named
	})
	return want, errors.Join(errs...)
}

// findTests returns the packages that have a test of a name, in all modules.
func findTests(root string) (map[string][]string, error) {
	places := map[string][]string{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && isSkipped(d) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		for _, m := range declaredTest.FindAllSubmatch(text, -1) {
			places[string(m[1])] = append(places[string(m[1])], path.Dir(name))
		}
		return err
	})
	return places, err
}

// isSkipped reports whether a directory holds nothing that people write for the project.
func isSkipped(d fs.DirEntry) bool {
	return strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"
}

// parseRows returns the cells of the tables of a page, but for their heads.
func parseRows(page string) (rows [][]string) {
	lines := strings.Split(page, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---") {
			continue
		}
		rows = append(rows, strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"))
	}
	return rows
}
