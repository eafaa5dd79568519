package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// TestAnalyzers: each analyzer finds what the comments in its package of testdata expect, and
// nothing else.
func TestAnalyzers(t *testing.T) {
	isField := func(name string) bool { return name == "ownerReferences" || name == "resourceVersion" }
	for _, analyzer := range []*analysis.Analyzer{wordsAnalyzer, docsAnalyzer, newMentionsAnalyzer(isField), methodsAnalyzer} {
		t.Run(analyzer.Name, func(t *testing.T) {
			t.Parallel()
			analysistest.Run(t, analysistest.TestData(), analyzer, analyzer.Name)
		})
	}
}

// TestAPINames: fields and constants of Kubernetes, fields of kind.yaml, and names of the standard
// library are known.
func TestAPINames(t *testing.T) {
	names, err := readAPINames("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{
		"ownerReferences":            true,
		"terminationGracePeriod":     false,
		"foregroundDeletion":         true,
		"preserveUnknownFields":      true,
		"deletionOrder":              true,
		"encoding.TextMarshaler":     true,
		"encoding.TextMarshal":       false,
		"plan.Input":                 false,
		"ownerReference.APIVersions": false,
	} {
		if got := names.hasName(name); got != want {
			t.Errorf("has(%q) = %t", name, got)
		}
	}
}

// TestBaseline: findings in the baseline pass; others, and entries that no longer occur, do not.
func TestBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(baselineFile), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"a.go", "b.go", "c.go"} {
		writeFile(t, file, "package sample\n")
	}
	const baseline = "a.go docs first\na.go words first\nb.go words second\n"
	for _, tt := range []struct {
		name, baseline, found, want, updated string
	}{
		{"as it was", baseline, baseline, "", baseline},
		{"new finding", baseline, baseline + "a.go words third\n", "a.go words third", baseline},
		{"mended", baseline, "a.go docs first\nb.go words second\n", `:2:1: "a.go words first" no longer occurs; take it out`, "a.go docs first\nb.go words second\n"},
		{"file removed", baseline + "gone.go words first\n", baseline, `:4:1: "gone.go words first" no longer occurs`, baseline},
		{"file moved", "gone.go words first\n" + baseline, baseline + "c.go words first\n", `c.go words first`, baseline + "c.go words first\n"},
		{"not in order", "b.go words second\na.go docs first\na.go words first\n", baseline, `:2:1: "a.go docs first" is not in order`, baseline},
		{"listed twice", "a.go docs first\n" + baseline, baseline, `:2:1: "a.go docs first" is not in order`, baseline},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, found := parseEntries(t, tt.baseline), newFindings()
			for _, file := range []string{"a.go", "b.go", "c.go"} {
				found.files[file] = true
			}
			for _, e := range parseEntries(t, tt.found) {
				found.places[e] = e.String()
			}
			problems := strings.Join(found.compareTo(entries), "\n")
			if !strings.Contains(problems, tt.want) || tt.want == "" && problems != "" {
				t.Errorf("got  %s\nwant %s", problems, tt.want)
			}

			if err := writeBaseline(updateEntries(entries, found)); err != nil {
				t.Fatal(err)
			}
			if updated, err := readBaseline(); err != nil || formatEntries(updated) != tt.updated {
				t.Errorf("updated to %s, %v\nwant %s", formatEntries(updated), err, tt.updated)
			}
		})
	}
}

// TestBaselineOnlyShrinks: what was not in the first baseline may not be added, but may move.
func TestBaselineOnlyShrinks(t *testing.T) {
	first := parseEntries(t, "a.go words first\na.go words second\n")
	for entries, want := range map[string]int{
		"a.go words first\n":                   0,
		"b.go words first\n":                   0,
		"a.go words first\nb.go words first\n": 1,
		"a.go docs first\n":                    1,
	} {
		if got := findAdded(parseEntries(t, entries), first); len(got) != want {
			t.Errorf("%q: got %q, want %d problems", entries, got, want)
		}
	}
	if got := findAdded(first, nil); got != nil {
		t.Errorf("without history: %q", got)
	}
}

func parseEntries(t *testing.T, text string) []entry {
	t.Helper()
	entries, err := parseBaseline(text)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// TestCheckModule: findings of a package are found once, with and without its tests.
func TestCheckModule(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "go.mod", "module example.org/sample\n\ngo 1.26\n")
	writeFile(t, "sample.go", "package sample\n\n// Told is gone: see onlyInTests.\nfunc told() {}\n")
	writeFile(t, "sample_test.go", "package sample\n\nvar onlyInTests = told\n\nfunc helper() {}\n")
	found := newFindings()
	none := func(string) bool { return false }
	if err := found.checkModule([]*analysis.Analyzer{wordsAnalyzer, docsAnalyzer, newMentionsAnalyzer(none)}, ".", []string{"./..."}); err != nil {
		t.Fatal(err)
	}
	want := map[entry]string{
		{"sample.go", "words", "told"}: "sample.go:4:6: told is named by one word; name it by a verb and a noun, as in releaseClaims",
		{"sample.go", "docs", "told"}:  `sample.go:3:1: told has a comment that starts with "Told is"; start it with told, or with A, An or The told`,
	}
	if !maps.Equal(found.places, want) {
		t.Errorf("got  %v\nwant %v", found.places, want)
	}
	if !found.files["sample_test.go"] {
		t.Errorf("read %v", found.files)
	}

	writeFile(t, "sample.go", "package sample\n\nfunc told() { undefined() }\n")
	if err := newFindings().checkModule([]*analysis.Analyzer{wordsAnalyzer}, ".", []string{"./..."}); err == nil {
		t.Error("a package that does not compile passes")
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
