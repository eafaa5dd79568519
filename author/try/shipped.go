package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/golden"
	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// showShipped lints, tests and renders every kind of this repository.
func (s *screen) showShipped(ctx context.Context) error {
	loaded, err := catalog.Load([]string{"."})
	if err != nil {
		return err
	}
	if err := errors.Join(loaded.Faults()...); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(loaded.Kinds))
	rows, failed := make([][]string, len(names)), make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		group.Go(func() { rows[i], failed[i] = checkKind(ctx, loaded, name) })
	}
	group.Wait()
	s.printHeading("3. The kinds of this repository")
	head := []string{"kind", "lint findings", "golden cases", "its example renders to"}
	for _, line := range alignColumns(append([][]string{head}, rows...)) {
		s.printText("  %s\n", line)
	}
	s.printText("\nEach kind is a CRD in crds/, a folder in templates/ and an example in examples/. No Go code knows them.\n" +
		"Lint follows the templates through every branch, with the types of the CRD and of Kubernetes.\n" +
		"The golden cases are in templates/*/tests.\n\n")
	return errors.Join(failed...)
}

// checkKind returns the row of a kind, and as an error what is wrong with it.
func checkKind(ctx context.Context, loaded *catalog.Catalog, name string) ([]string, error) {
	var errs []error
	found := lint.Check(ctx, loaded, name)
	for _, f := range found {
		errs = append(errs, f)
	}
	cases, err := loaded.Cases(name)
	errs = append(errs, err)
	good := 0
	for _, one := range cases {
		if err := judgeCase(ctx, loaded, one); err != nil {
			errs = append(errs, err)
			continue
		}
		good++
	}
	made, err := renderExample(ctx, loaded, name)
	errs = append(errs, err)
	passed := fmt.Sprintf("%d of %d pass", good, len(cases))
	return []string{loaded.Kinds[name].GVK.Kind, strconv.Itoa(len(found)), passed, made}, errors.Join(errs...)
}

// judgeCase runs a golden case, and fails unless it passes.
func judgeCase(ctx context.Context, loaded *catalog.Catalog, one *catalog.Case) error {
	outcome, err := loaded.Run(ctx, one)
	if err != nil {
		return err
	}
	var said []string
	if outcome.Err != nil {
		said = strings.Split(outcome.Err.Error(), "\n")
	}
	verdict, err := golden.Judge(one, outcome, said)
	if err != nil {
		return err
	}
	if len(verdict.Findings) > 0 {
		return fmt.Errorf("%s: %s", one.Dir, verdict.Findings[0].Text)
	}
	return nil
}

// renderExample renders the example of a kind, and returns what it makes in words.
func renderExample(ctx context.Context, loaded *catalog.Catalog, name string) (string, error) {
	file, err := catalog.Open(filepath.Join("examples", name+".yaml"), nil)
	if err != nil {
		return "", err
	}
	resources, others, err := loaded.Resources(file.Objects)
	if err != nil {
		return "", err
	}
	cluster, err := loaded.Cluster(nil, others)
	if err != nil {
		return "", err
	}
	var made []string
	for _, r := range resources {
		children, err := renderChildren(ctx, r, cluster)
		if err != nil {
			return "", err
		}
		for _, c := range children {
			name := c.Object.GetKind()
			if c.Policy.Patch {
				name += " (patched)"
			}
			made = append(made, name)
		}
	}
	if len(made) == 0 {
		return "no objects, as long as the cluster is empty", nil
	}
	return strings.Join(made, ", "), nil
}

// renderChildren returns the children of a resource.
func renderChildren(ctx context.Context, r *catalog.Resource, cluster *catalog.Cluster) ([]render.Child, error) {
	result, err := render.Children(ctx, r.Kind, r.Object, cluster.For(r.Kind, r.Object))
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", r, err)
	}
	return result.Children, nil
}
