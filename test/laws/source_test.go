package laws

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/jacquard-operator/jacquard"

// A goFile is one Go file of the repository, of whatever module.
type goFile struct {
	path string // with slashes, from the root
	text string
	set  *token.FileSet
	ast  *ast.File
}

func (f goFile) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// at is where a node stands, as editors understand it.
func (f goFile) at(n ast.Node) string { return f.set.Position(n.Pos()).String() }

// goFiles parses every Go file that people write.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var all []goFile
	for _, path := range files(t, ".go") {
		f := goFile{path: path, text: string(read(t, path)), set: token.NewFileSet()}
		var err error
		if f.ast, err = parser.ParseFile(f.set, path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(f.ast) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no Go files: this test looks in the wrong place")
	}
	return all
}

// files lists the files of the repository with this suffix, but for what was
// built and what tests keep in testdata.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, suffix) {
			all = append(all, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A listed is a package as `go list` tells of it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// name is the package's path from the root, "" for the root itself.
func (p listed) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// ours reports whether the package belongs to the operator's module.
func (p listed) ours() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

// list asks `go list` about packages and all that they depend on.
func list(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps"}, args...)...)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, trouble.String())
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("reading what go list says: %v", err)
		}
		all = append(all, p)
	}
}

// A typed is a package of ours with what its names mean.
type typed struct {
	listed
	set  *token.FileSet
	uses map[*ast.Ident]types.Object
}

// typedPackages checks the types of every package of the operator's module,
// tests left out.
func typedPackages(t *testing.T) []typed {
	t.Helper()
	all := list(t, "-export", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	all = slices.DeleteFunc(all, func(p listed) bool { return !p.ours() })
	packages := make([]typed, len(all))
	for i, p := range all {
		packages[i] = checkTypes(t, p, set, from)
	}
	return packages
}

func checkTypes(t *testing.T, p listed, set *token.FileSet, from types.Importer) typed {
	t.Helper()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: from}).Check(p.ImportPath, set, parsed, info); err != nil {
		t.Fatal(err)
	}
	return typed{p, set, info.Uses}
}

// exists reports whether a document's relative link leads to something.
func exists(document, link string) bool {
	_, err := os.Stat(filepath.Join(filepath.Dir(document), filepath.FromSlash(link)))
	return err == nil
}

// write puts a file below a folder.
func write(t *testing.T, dir, file, text string) {
	t.Helper()
	file = filepath.Join(dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
