package docs

import (
	"errors"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// loss begins the paragraph of a package's comment that says why there is the package.
const loss = "Without it, users lose "

// generatePackages lists the packages that people run, and what they are for.
func generatePackages(root, _ string) (string, error) {
	var rows [][]string
	var errs []error
	for _, top := range []string{"engine", "author", "admin", "cli"} {
		comments, err := readPackages(root, top)
		if err != nil {
			return "", err
		}
		for _, p := range comments {
			_, why, found := strings.Cut("\n\n"+p.comment, "\n\n"+loss)
			if !found {
				errs = append(errs, fmt.Errorf("%s: its package comment has no paragraph that begins with %q", p.path, loss))
			}
			why, _, _ = strings.Cut(why, "\n\n")
			rows = append(rows, []string{"`" + p.path + "`", linkDocuments(strings.TrimSuffix(joinLines(why), "."))})
		}
	}
	return formatTable([]string{"package", "without it, users lose"}, rows...), errors.Join(errs...)
}

// generateTests lists the packages that tests are in or need, with the first sentence of their
// comment.
func generateTests(root, _ string) (string, error) {
	comments, err := readPackages(root, "test")
	var rows [][]string
	for _, p := range comments {
		words := strings.SplitN(new(doc.Package).Synopsis(p.comment), " ", 3) // Package NAME …
		if len(words) < 3 {
			return "", fmt.Errorf("%s: its package comment is no sentence", p.path)
		}
		rows = append(rows, []string{"`" + p.path + "`", linkDocuments(strings.TrimSuffix(words[2], "."))})
	}
	return formatTable([]string{"package", "what it does"}, rows...), err
}

// A packageComment is a package, by its path from the root, and its comment.
type packageComment struct{ path, comment string }

// readPackages returns the packages of the operator's module below a directory, by path.
func readPackages(root, top string) ([]packageComment, error) {
	all := map[string]string{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, top, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, module := fs.Stat(tree, path.Join(name, "go.mod"))
			if module == nil || isSkipped(d) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(name)), nil,
			parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		if text := f.Doc.Text(); len(text) > len(all[path.Dir(name)]) { // tests outside of the package may have one, too
			all[path.Dir(name)] = text
		}
		return nil
	})
	var sorted []packageComment
	for dir, comment := range all {
		sorted = append(sorted, packageComment{dir, comment})
	}
	slices.SortFunc(sorted, func(a, b packageComment) int { return strings.Compare(a.path, b.path) })
	return sorted, err
}

// joinLines returns a text with single spaces.
func joinLines(text string) string { return strings.Join(strings.Fields(text), " ") }

var document = regexp.MustCompile(`\bdocs/([a-z/-]+\.md)\b`)

// linkDocuments makes links of the names of documents, for a page in docs.
func linkDocuments(text string) string { return document.ReplaceAllString(text, "[$1]($1)") }
