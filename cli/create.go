//go:build !operator

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/scaffold"
)

// createKind tries a new kind, writes its files into a root, and prints their names. Where
// something is wrong or in the way, nothing is written.
func createKind(cmd *cobra.Command, root string, draft *scaffold.Draft) error {
	if err := checkFree(root, draft); err != nil {
		return err
	}
	tried := tryDraft(cmd.Context(), draft)
	if tried != nil && !draft.Rough {
		return fmt.Errorf("making %s: nothing was written, as what was made does not work:\n%w", draft.Name, tried)
	}
	for _, f := range draft.Files {
		if isWritten(root, f) {
			continue
		}
		if err := writeNew(root, f); err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", filepath.Join(root, f.Path))
	}
	if err := noteFindings(cmd.Context(), root, draft); err != nil {
		return err
	}
	printAdvice(cmd, root, draft)
	if tried != nil {
		return fmt.Errorf("making %s: what was written does not work yet; mend it, and run test --update:\n%w", draft.Name, tried)
	}
	return nil
}

// checkFree returns an error that names the files that are in the way. A file with the same
// contents is not in the way, such as the CRD that the rest is made for.
func checkFree(root string, draft *scaffold.Draft) error {
	folder := filepath.Join(root, "templates", draft.Name)
	if _, err := os.Lstat(folder); err == nil {
		return inTheWay(folder)
	}
	var errs []error
	for _, f := range draft.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("making %s: %s would be outside of the root: give it another name", draft.Name, f.Path)
		}
		name := filepath.Join(root, f.Path)
		if _, err := os.Lstat(name); err == nil && !isWritten(root, f) {
			errs = append(errs, inTheWay(name))
		}
	}
	return errors.Join(errs...)
}

func inTheWay(name string) error {
	return fmt.Errorf("%s is there already, and nothing is overwritten: move it away, or write into another --root", name)
}

// isWritten reports whether a file is there already with the same contents.
func isWritten(root string, f scaffold.File) bool {
	data, err := os.ReadFile(filepath.Join(root, f.Path))
	return err == nil && bytes.Equal(data, f.Data)
}

func writeNew(root string, f scaffold.File) error {
	name := filepath.Join(root, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = file.Write(f.Data)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// tryDraft loads a draft in a directory that is thrown away, runs its cases, and completes what
// they want.
func tryDraft(ctx context.Context, draft *scaffold.Draft) error {
	dir, err := os.MkdirTemp("", "jacquard-new-")
	if err != nil {
		return fmt.Errorf("trying %s: %w", draft.Name, err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left there hurts nobody
	for _, f := range draft.Files {
		if err := writeNew(dir, f); err != nil {
			return err
		}
	}
	loaded, err := catalog.Load([]string{dir})
	if err == nil {
		err = errors.Join(loaded.Faults()...)
	}
	if err != nil {
		return hideDirectory(dir, err)
	}
	cases, err := loaded.Cases(draft.Name)
	errs := []error{err}
	for _, one := range cases {
		errs = append(errs, completeCase(ctx, loaded, one, draft))
	}
	for i, note := range draft.Notes {
		draft.Notes[i] = strings.ReplaceAll(note, dir+string(filepath.Separator), "")
	}
	example, err := catalog.Open(filepath.Join(dir, draft.Example), nil)
	if err == nil {
		_, _, err = loaded.Resources(example.Objects)
	}
	return hideDirectory(dir, errors.Join(append(errs, err)...))
}

// completeCase runs a case, and adds to the draft what the case does not yet want.
func completeCase(ctx context.Context, loaded *catalog.Catalog, one *catalog.Case, draft *scaffold.Draft) error {
	outcome, err := loaded.Run(ctx, one)
	if err != nil {
		return err
	}
	if wanted, refused := one.Wants[catalog.FileWantError]; refused {
		if outcome.Err == nil || !strings.Contains(outcome.Err.Error(), strings.TrimSpace(wanted)) {
			return fmt.Errorf("case %s: %q was to be said, and this was: %w", one.Name, strings.TrimSpace(wanted), errors.Join(outcome.Err))
		}
		return nil
	}
	if outcome.Err != nil && draft.Rough {
		expectRefusal(one, outcome.Err, draft)
		return nil
	}
	if outcome.Err != nil {
		return fmt.Errorf("case %s: %w", one.Name, outcome.Err)
	}
	for file, got := range outcome.Got {
		want, there := one.Wants[file]
		if !there {
			draft.AddTemplate("tests/"+one.Name+"/"+file, got)
			continue
		}
		if want, err := catalog.Canonical(file, want); err != nil || want != got {
			return errors.Join(err, fmt.Errorf("case %s:\n%s", one.Name, diff.Diff("wanted", []byte(want), "rendered", []byte(got))))
		}
	}
	return nil
}

// hideDirectory removes a directory that nobody knows from the messages of an error.
func hideDirectory(dir string, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(strings.Join(listMessages(err), "\n"), dir+string(filepath.Separator), ""))
}

// printAdvice prints what to look at and what to do next.
func printAdvice(cmd *cobra.Command, root string, draft *scaffold.Draft) {
	out := cmd.OutOrStdout()
	if len(draft.Notes) > 0 {
		fmt.Fprintf(out, "\nLook at:\n")
		for _, note := range draft.Notes {
			fmt.Fprintf(out, "  %s\n", note)
		}
	}
	program, at := cmd.Root().CommandPath(), ""
	if root != "." {
		at = " --root " + root
	}
	fmt.Fprintf(out, `
Next:
  %[1]s lint %[2]s%[3]s
  %[1]s test %[2]s%[3]s
  %[1]s render %[4]s%[3]s
With a cluster, in a terminal of its own, since it runs until you stop it:
  %[1]s run --install-crds%[3]s
And in another one:
  %[1]s diff %[4]s%[3]s
  kubectl apply -f %[4]s
Or, where an operator is installed already, instead of run:
  %[1]s pack %[2]s%[3]s | kubectl apply -f -
`, program, draft.Name, at, filepath.Join(root, draft.Example))
}
