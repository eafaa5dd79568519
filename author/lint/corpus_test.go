package lint

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/typecheck"
)

var update = flag.Bool("update", false, "write what is found into the cases of testdata")

// widgets is the kind that the cases change.
const widgets = "widgets.example.com"

// TestCorpus: each case of testdata/<class>/ gives exactly the findings that it
// wants. A case is files that stand beside those of testdata/widgets, or take
// their place; an empty one takes it away; earlier/ is a state before. A case whose name begins with near
// is right, though it looks as if it were not.
func TestCorpus(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	broken, near := map[string]int{}, map[string]int{}
	for _, file := range cases {
		class := filepath.Base(filepath.Dir(file))
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		of := broken
		if strings.HasPrefix(name, "near") {
			of = near
		}
		of[class]++
		t.Run(class+"/"+name, func(t *testing.T) {
			t.Parallel()
			checkCase(t, file, class, strings.HasPrefix(name, "near"))
		})
	}
	for class, n := range broken {
		if n < 3 || near[class] < 1 {
			t.Errorf("%s: %d broken folders and %d that only look so; at least 3 and 1 are wanted", class, n, near[class])
		}
	}
	var known []string
	for _, d := range Classes {
		known = append(known, string(d.Class))
		if d.Mistake == "" || strings.ContainsAny(d.Mistake, "|\n") {
			t.Errorf("%s: what it is about is no text for a table: %q", d.Class, d.Mistake)
		}
	}
	slices.Sort(known)
	if diff := cmp.Diff(known, slices.Sorted(maps.Keys(broken))); diff != "" {
		t.Errorf("testdata has cases of other classes than there are (-classes +cases):\n%s", diff)
	}
}

func checkCase(t *testing.T, file, class string, near bool) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := caseFindings(t, archive)
	last := &archive.Files[len(archive.Files)-1]
	if last.Name != "want" {
		t.Fatalf("%s: the last file is %s; it must be want", file, last.Name)
	}
	if *update {
		last.Data = []byte(found)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(last.Data), found); diff != "" {
		t.Errorf("%s (-want +found):\n%s", file, diff)
	}
	if of := strings.Contains(found, " ["+class+"]\n"); of == near {
		t.Errorf("%s: has a finding of its class: %v", file, of)
	}
}

// unpack writes the files of a case beside those of testdata/widgets.
func unpack(t *testing.T, archive *txtar.Archive) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/widgets")); err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if len(bytes.TrimSpace(f.Data)) == 0 || f.Name == "want" {
			if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			continue
		}
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// caseFindings are the findings, a line each, with their classes, what is
// silenced and what is not checked.
func caseFindings(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := unpack(t, archive)
	loaded, err := catalog.Load([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	is := Look(t.Context(), loaded, widgets, since(t, filepath.Join(dir, "earlier"), loaded)...)
	for _, f := range append(Findings(errors.Join(loaded.Trouble...)), is.Findings...) {
		fmt.Fprintf(&text, "%s [%s]\n", f.Error(), f.Class)
	}
	for _, f := range is.Silenced {
		fmt.Fprintf(&text, "%s [%s] silenced: %s\n", f.Error(), f.Class, f.Reason)
	}
	for _, n := range is.Unchecked {
		fmt.Fprintf(&text, "%s: %s [not checked]\n", n.Place, n.Text)
	}
	return strings.ReplaceAll(text.String(), dir+"/", "")
}

// since are the findings about an earlier state, with the same CRD unless it has
// one of its own, if a case has one.
func since(t *testing.T, dir string, loaded *catalog.Catalog) []typecheck.Finding {
	t.Helper()
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "crds")); os.IsNotExist(err) {
		if err := os.CopyFS(filepath.Join(dir, "crds"), os.DirFS("testdata/widgets/crds")); err != nil {
			t.Fatal(err)
		}
	}
	earlier, err := catalog.Load([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	found, err := Dropped(earlier, loaded, widgets)
	if err != nil {
		t.Fatal(err)
	}
	if before := Earlier(earlier, loaded, widgets); before != nil {
		found = append(found, Breaking(before.Object, loaded.CRDs[widgets])...)
	}
	return found
}
