// Command mutants shows that the tests notice what a careless change could
// break: it puts each defect of mutants.yaml into the code, by an overlay, and
// runs the tests that are to fail then. Arguments name single mutants.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

//go:embed mutants.yaml
var list []byte

// A mutant is a defect and the tests that find it.
type mutant struct {
	Name string `json:"name"`
	// Loses is what users would lose.
	Loses string `json:"loses"`
	// Before is in File exactly once, and After takes its place.
	File   string `json:"file"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Memory and Cluster name a package and a test of it, such as "engine/plan
	// TestPrune". Cluster runs where Memory is absent or does not fail.
	Memory  string `json:"memory,omitempty"`
	Cluster string `json:"cluster,omitempty"`
}

func main() {
	survived, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || survived > 0 {
		os.Exit(1)
	}
}

// run tries the mutants of these names, all if there are none, and counts those
// that survived.
func run(names []string) (survived int, err error) {
	all, err := readMutants()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(m mutant) bool { return m.Name == name }) {
			return 0, fmt.Errorf("there is no mutant %s", name)
		}
	}
	var errs []error
	for _, m := range all {
		if len(names) > 0 && !slices.Contains(names, m.Name) {
			continue
		}
		began := time.Now()
		killer, err := m.findKiller()
		took := time.Since(began).Round(time.Second)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", m.Name, err))
		case killer == "":
			survived++
			fmt.Printf("SURVIVED %s (%s): %s\n", m.Name, took, m.Loses)
		default:
			fmt.Printf("killed   %s (%s) by %s\n", m.Name, took, killer)
		}
	}
	return survived, errors.Join(errs...)
}

// readMutants reads the list.
func readMutants() (all []mutant, err error) {
	if err := yaml.UnmarshalStrict(list, &all); err != nil {
		return nil, fmt.Errorf("reading mutants.yaml: %w", err)
	}
	return all, nil
}

// insertDefect returns the text of the mutant's file below root with the defect in it.
func (m mutant) insertDefect(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(source), m.Before); n != 1 {
		return "", fmt.Errorf("it does not fit the code any more: %s has its text %d times, want once", m.File, n)
	}
	return strings.Replace(string(source), m.Before, m.After, 1), nil
}

// findKiller returns the first test that fails with the mutant, or "" if none does.
func (m mutant) findKiller() (killer string, err error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := m.writeOverlay(dir)
	if err != nil {
		return "", err
	}
	for _, test := range []string{m.Memory, m.Cluster} {
		if test == "" {
			continue
		}
		if failed, err := failsOver(test, overlay); failed || err != nil {
			return test, err
		}
	}
	return "", nil
}

// writeOverlay writes into a folder what has the compiler take the mutated file in place of the
// real one. It returns its path.
func (m mutant) writeOverlay(dir string) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	text, err := m.insertDefect(root)
	if err != nil {
		return "", err
	}
	file, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, m.File): file}})
	return overlay, errors.Join(err, os.WriteFile(file, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600))
}

// failsOver reports whether a test fails over an overlay.
func failsOver(test, overlay string) (bool, error) {
	folder, name, _ := strings.Cut(test, " ")
	args := []string{"test", "-vet=off", "-count=1", "-timeout=15m", "-overlay=" + overlay, "-run=^" + name + "$", "./" + folder}
	cmd := exec.CommandContext(context.Background(), "go", args...)
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case strings.Contains(text, "no tests to run"):
		return false, fmt.Errorf("there is no test %s", test)
	case err == nil:
		return false, nil
	case strings.Contains(text, "--- FAIL: "), strings.Contains(text, "panic: "):
		return true, nil
	}
	return false, fmt.Errorf("running %s: %w\n%s", test, err, text)
}
