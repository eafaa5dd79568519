// Command style checks what a machine can judge of the project's style: how functions are
// named, how doc comments start, what comments name, and how many methods a type has.
//
//	style [-update] DIR=PATTERN,… …
//
// It runs at the root of the repository. Each argument is the folder of a module, and the
// packages in it. Findings that are listed in tools/style/baseline.txt pass; those that no
// longer occur have to be taken out. With -update they are taken out, and those whose file
// has moved follow it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

func main() {
	update := flag.Bool("update", false, "take out of the baseline what no longer occurs")
	flag.Parse()
	problems, err := run(flag.Args(), *update)
	for _, p := range problems {
		fmt.Println(p)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "style:", err)
	}
	if err != nil || len(problems) > 0 {
		os.Exit(1)
	}
}

// run checks modules, and returns what has to be mended.
func run(modules []string, update bool) ([]string, error) {
	names, err := readAPINames(".")
	if err != nil {
		return nil, err
	}
	analyzers := []*analysis.Analyzer{wordsAnalyzer, docsAnalyzer, newMentionsAnalyzer(names.hasName), methodsAnalyzer}
	found := newFindings()
	for _, module := range modules {
		dir, patterns, _ := strings.Cut(module, "=")
		if err := found.checkModule(analyzers, dir, strings.Split(patterns, ",")); err != nil {
			return nil, fmt.Errorf("checking %s: %w", dir, err)
		}
	}
	return compareBaseline(found, update)
}

// findings are what the analyzers found in the files that they read.
type findings struct {
	// places are the position and the message of each finding.
	places map[entry]string
	// files are the files that were read.
	files map[string]bool
}

func newFindings() *findings {
	return &findings{places: map[entry]string{}, files: map[string]bool{}}
}

// loadMode asks for the syntax and types of the packages to check. Types of imports come from
// what the compiler wrote.
const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedForTest |
	packages.NeedModule | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo

// checkModule runs the analyzers on packages of the module in a folder.
func (f *findings) checkModule(analyzers []*analysis.Analyzer, dir string, patterns []string) error {
	loaded, err := packages.Load(&packages.Config{Dir: dir, Mode: loadMode, Tests: true}, patterns...)
	if err != nil {
		return err
	}
	if len(loaded) == 0 {
		return fmt.Errorf("no packages match %q", patterns)
	}

	// A package that has tests is loaded with and without them.
	var errs []error
	withTests := map[string]bool{}
	for _, p := range loaded {
		withTests[p.ForTest] = true
		for _, err := range p.Errors {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool { return p.ForTest == "" && withTests[p.PkgPath] })

	graph, err := checker.Analyze(analyzers, loaded, nil)
	if err != nil {
		return err
	}
	for _, p := range loaded {
		for _, file := range p.CompiledGoFiles {
			f.files[relativePath(file)] = true
		}
	}
	for action := range graph.All() {
		if action.Err != nil {
			return fmt.Errorf("%v: %w", action, action.Err)
		}
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			at.Filename = relativePath(at.Filename)
			identifier, _, _ := strings.Cut(d.Message, " ")
			e := entry{at.Filename, action.Analyzer.Name, identifier}
			if f.places[e] == "" {
				f.places[e] = fmt.Sprintf("%s: %s", at, d.Message)
			}
		}
	}
	return nil
}

// relativePath returns the path of a file from the working directory, with slashes.
func relativePath(file string) string {
	if wd, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(wd, file); err == nil {
			return filepath.ToSlash(relative)
		}
	}
	return file
}
