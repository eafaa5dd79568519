package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root = "../.."
	// wanted is how many mutants there are, mostClusters how many of them only a
	// cluster may show: what is decided in memory is to be noticed there.
	wanted, mostClusters = 48, 8
)

// TestFit: every mutant fits the code as it is, is Go, and names tests that
// there are.
func TestFit(t *testing.T) {
	all, err := readMutants()
	if err != nil {
		t.Fatal(err)
	}
	seen, clusters := map[string]bool{}, 0
	for _, m := range all {
		text, err := m.insertDefect(root)
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
		} else if _, err := parser.ParseFile(token.NewFileSet(), m.File, text, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: with the defect it is no Go: %v", m.Name, err)
		}
		if m.Name == "" || seen[m.Name] || m.Before == m.After || !strings.HasSuffix(m.Loses, ".") {
			t.Errorf("%s: it needs a name of its own, a defect, and a sentence", m.Name)
		}
		seen[m.Name] = true
		if m.Memory == "" {
			clusters++
		}
		if m.Memory+m.Cluster == "" {
			t.Errorf("%s: no test is to find it", m.Name)
		}
		for _, test := range []string{m.Memory, m.Cluster} {
			if test != "" && !tested(t, test) {
				t.Errorf("%s: there is no test %s", m.Name, test)
			}
		}
	}
	if len(all) != wanted || clusters > mostClusters {
		t.Errorf("%d mutants, %d of which only a cluster shows; want %d, and at most %d", len(all), clusters, wanted, mostClusters)
	}
}

// tested reports whether there is a test, as a mutant names it.
func tested(t *testing.T, test string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(test, " ")
	found, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv == nil && f.Name.Name == name {
				return true
			}
		}
	}
	return false
}
