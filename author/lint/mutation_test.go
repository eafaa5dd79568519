package lint

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/template/parse"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

const repository = "../.."

// TestMutants: in every shipped folder each field is misspelt, each guard taken
// away, each type changed, one at a time, and each is found, but for those that
// testdata/exceptions.txt names with the reason. It is a few of them but for make
// nightly-mutants: every one takes as long as a check of its kind.
func TestMutants(t *testing.T) {
	kinds, err := catalog.Load([]string{repository})
	if err != nil {
		t.Fatal(err)
	}
	excused := exceptions(t)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(kinds.Kinds)) {
		t.Run(name, func(t *testing.T) { total += checkMutants(t, readKind(t, kinds, name), excused) })
	}
	t.Logf("%d mutants", total)
}

// everyMutant is so with make nightly.
var everyMutant = os.Getenv("NIGHTLY") != ""

// checkMutants compares what escapes of one kind with what may.
func checkMutants(t *testing.T, k *mutable, excused map[string]string) (n int) {
	for _, f := range k.findings(t, mutant{}) {
		t.Errorf("found without a mistake: %v", f)
		k.before = append(k.before, f.Text)
	}
	escaped, n := k.escapes(t)
	if n < 10 {
		t.Errorf("there are only %d mutants: this test looks in the wrong place", n)
	}
	for _, what := range escaped {
		if excused[what] == "" {
			t.Errorf("not found: %s", what)
		}
	}
	for what := range excused {
		if everyMutant && strings.HasPrefix(what, k.name+"/") && !slices.Contains(escaped, what) {
			t.Errorf("testdata/exceptions.txt: no longer needed: %s", what)
		}
	}
	return n
}

// exceptions are the mutants that nobody can find, and why: a line that begins
// with # gives the reason for those below it.
func exceptions(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	reason := ""
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
			reason = line
		case line == "":
			reason = ""
		case reason == "":
			t.Errorf("testdata/exceptions.txt:%d: has no reason above it", i+1)
		default:
			all[line] = reason
		}
	}
	return all
}

// A mutable is a kind of this repository as files.
type mutable struct {
	catalog *catalog.Catalog
	name    string
	crd     string
	files   map[string][]byte // of the folder, by name
	before  []string          // what is found without a mistake
}

func readKind(t *testing.T, kinds *catalog.Catalog, name string) *mutable {
	t.Helper()
	k := &mutable{catalog: kinds, name: name, files: map[string][]byte{}}
	crd, err := os.ReadFile(filepath.Join(repository, "crds", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	k.crd = string(crd)
	files, err := filepath.Glob(filepath.Join(repository, "templates", name, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if k.files[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// escapes are the mutants that nothing was found in, and how many there are.
func (k *mutable) escapes(t *testing.T) (escaped []string, n int) {
	all := k.mutants(t)
	step := 1
	if !everyMutant {
		step = max(1, len(all)/20)
	}
	found := make([]bool, len(all))
	var group sync.WaitGroup
	work := make(chan int)
	for range 4 {
		group.Go(func() {
			for i := range work {
				found[i] = k.finds(t, all[i])
			}
		})
	}
	for i := 0; i < len(all); i += step {
		work <- i
	}
	close(work)
	group.Wait()
	seen := map[string]int{}
	for i, m := range all {
		id := k.name + "/" + m.file + ": " + m.what
		if seen[id]++; seen[id] > 1 {
			id += fmt.Sprintf(" (%d)", seen[id])
		}
		if !found[i] && i%step == 0 {
			escaped = append(escaped, id)
		}
	}
	return escaped, len(all)
}

// mutants are all of a kind.
func (k *mutable) mutants(t *testing.T) []mutant {
	t.Helper()
	var all []mutant
	for _, file := range slices.Sorted(maps.Keys(k.files)) {
		if file == "kind.yaml" || file == "config.yaml" {
			continue
		}
		text := string(k.files[file])
		all = append(all, misspelt(file, text)...)
		all = append(all, unguarded(file, text)...)
		all = append(all, retargeted(file, text)...)
	}
	made := k.catalog.Kinds[k.name]
	reads := flowOf(k.catalog, made, schema.Root(made.Version)).Reads
	printed, err := retyped("crd", k.crd, func(path string) bool { return reads[path].Whole })
	if err != nil {
		t.Fatal(err)
	}
	return append(all, printed...)
}

// finds reports whether lint finds something in a mutant.
func (k *mutable) finds(t *testing.T, m mutant) bool {
	for _, f := range k.findings(t, m) {
		if !slices.Contains(k.before, f.Text) {
			return true
		}
	}
	return false
}

// findings are those in a mutant. Its root holds neither examples nor golden
// cases: it is the templates alone that must tell.
func (k *mutable) findings(t *testing.T, m mutant) []typecheck.Finding {
	files, text := maps.Clone(k.files), k.crd
	if m.file == "crd" {
		text = m.text
	} else if m.file != "" {
		files[m.file] = []byte(m.text)
		tree := parse.New(m.file)
		tree.Mode = parse.SkipFuncCheck
		if _, err := tree.Parse(m.text, "", "", map[string]*parse.Tree{}); err != nil {
			t.Errorf("%s: %s: the mutant is no template: %v", k.name, m.what, err)
		}
	}
	crd, err := crdfile.Parse("crds/"+k.name+".yaml", []byte(text))
	if err != nil {
		t.Errorf("%s: %s: %v", k.name, m.what, err)
		return nil
	}
	f, err := folder.FromMap(k.name, "templates/"+k.name, files)
	if err != nil {
		t.Errorf("%s: %s: %v", k.name, m.what, err)
		return nil
	}
	with := k.catalog.With(f, crd)
	if err := with.Broken[k.name]; err != nil {
		return Findings(err)
	}
	with.Roots = map[string]string{k.name: t.TempDir()}
	// What following tells needs no samples.
	l := &linter{catalog: with, name: k.name}
	l.checkTemplates()
	if followed := l.finishFindings(); len(followed) > 0 {
		return followed
	}
	return Check(t.Context(), with, k.name)
}
