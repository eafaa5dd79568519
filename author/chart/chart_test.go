package chart

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

var update = flag.Bool("update", false, "write what came out as what is wanted")

var shop = Target{Group: "example.com", Version: "v1", Kind: "Shop", Plural: "shops", Singular: "shop"}

// TestCases converts small charts: each file holds one, and below want/ all
// that must come of it, but for the notes in the folder, which want/notes has.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("only %d cases: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want := fstest.MapFS{}, map[string]string{}
			given := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want[name] = string(f.Data)
					continue
				}
				fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
				given.Files = append(given.Files, f)
			}
			made, err := Convert(fsys, shop)
			if err != nil {
				t.Fatal(err)
			}
			got := wanted(made)
			if *update {
				for _, name := range sortedKeys(got) {
					given.Files = append(given.Files, txtar.File{Name: "want/" + name, Data: []byte(got[name])})
				}
				if err := os.WriteFile(file, txtar.Format(given), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			loads(t, made)
		})
	}
}

// wanted is what a case wants: files by the part of their path that tells, and
// of the CRD the schema of the spec.
func wanted(made *Result) map[string]string {
	got := map[string]string{}
	for _, f := range made.Files {
		text, name := string(f.Data), strings.TrimPrefix(f.Path, "templates/shops.example.com/")
		switch {
		case name == notesFile, strings.HasPrefix(name, "tests/"):
			continue
		case strings.HasPrefix(name, "crds/"):
			_, text, _ = strings.Cut(text, "          spec:\n")
			text, _, _ = strings.Cut(text, "          status:\n")
			name = "spec.yaml"
		case strings.HasPrefix(name, "examples/"):
			name = "example.yaml"
		}
		got[name] = text
	}
	var notes strings.Builder
	for _, n := range made.Notes {
		notes.WriteString(n.String() + "\n")
	}
	got["notes"] = notes.String()
	return got
}

// loads checks that what was made loads, and that the example is valid.
func loads(t *testing.T, made *Result) {
	t.Helper()
	root := t.TempDir()
	for _, f := range made.Files {
		file := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := catalog.Load([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range loaded.Faults() {
		t.Errorf("what was made does not load: %v", fault)
	}
	example, err := catalog.Open(filepath.Join(root, made.Example), nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, _, err := loaded.Resources(example.Objects); err != nil || len(found) != 1 && len(loaded.Broken) == 0 {
		t.Errorf("the example makes %d resources: %v", len(found), err)
	}
}
