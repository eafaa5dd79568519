package laws

import (
	"encoding/json"
	"errors"
	"fmt"
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
	"sync"
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

// goFiles are the Go files that people write.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	all, err := parsedFiles()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(all)
}

var parsedFiles = sync.OnceValues(func() ([]goFile, error) {
	paths, err := allFiles()
	if err != nil {
		return nil, err
	}
	var all []goFile
	for _, path := range paths {
		if !strings.HasSuffix(path, ".go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := goFile{path: path, text: string(text), set: token.NewFileSet()}
		if f.ast, err = parser.ParseFile(f.set, path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		if !ast.IsGenerated(f.ast) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there are no Go files: this test looks in the wrong place")
	}
	return all, nil
})

// files lists the files of the repository with this suffix, but for what was
// built and what tests keep in testdata.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	all, err := allFiles()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(all), func(path string) bool { return !strings.HasSuffix(path, suffix) })
}

var allFiles = sync.OnceValues(func() (all []string, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			all = append(all, filepath.ToSlash(path))
		}
		return nil
	})
	return all, err
})

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
	all, err := listPackages(args...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func listPackages(args ...string) ([]listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps"}, args...)...)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, trouble.String())
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says: %w", err)
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
	all, err := checkedPackages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var checkedPackages = sync.OnceValues(func() ([]typed, error) {
	all, err := listPackages("-export", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	set := token.NewFileSet()
	from := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	all = slices.DeleteFunc(all, func(p listed) bool { return !p.ours() })
	packages := make([]typed, len(all))
	for i, p := range all {
		if packages[i], err = checkTypes(p, set, from); err != nil {
			return nil, err
		}
	}
	return packages, nil
})

func checkTypes(p listed, set *token.FileSet, from types.Importer) (typed, error) {
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return typed{}, err
		}
		parsed = append(parsed, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: from}).Check(p.ImportPath, set, parsed, info); err != nil {
		return typed{}, err
	}
	return typed{p, set, info.Uses}, nil
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
