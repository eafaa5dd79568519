package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/engine/offline"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

type testOptions struct {
	roots   []string
	config  string
	update  bool
	catalog *offline.Catalog
	out     io.Writer
}

func newTest() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test [NAME…]",
		Short: "Run the golden cases of kinds",
		Long: `Run the golden cases of these kinds, or of all: templates/<name>/tests/<case>/
with cr.yaml (the resource), cluster.yaml (what is in the cluster; optional),
want.yaml (its children) or want-error.txt (what must be said; each line a part
of a message), want-waits.txt (which files wait for what, if any does), and
want-status.yaml (what status.yaml makes; optional).`,
		RunE: func(cmd *cobra.Command, names []string) error {
			o.out = cmd.OutOrStdout()
			return o.run(cmd, names)
		},
	}
	rootFlag(cmd, &o.roots)
	configFlag(cmd, &o.config)
	cmd.Flags().BoolVar(&o.update, "update", false, "write what came out as what is wanted")
	return cmd
}

func (o *testOptions) run(cmd *cobra.Command, names []string) error {
	catalog, err := load(o.roots, o.config)
	if err != nil {
		return err
	}
	o.catalog = catalog
	known := slices.Sorted(maps.Keys(catalog.Kinds))
	known = slices.Sorted(slices.Values(append(known, slices.Collect(maps.Keys(catalog.Broken))...)))
	errs := slices.Clone(catalog.Trouble)
	if len(names) == 0 {
		names = known
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("testing %s: there is no such kind; %s", name, meant(name, known)))
			continue
		}
		errs = append(errs, o.kind(cmd.Context(), name))
	}
	return errors.Join(errs...)
}

func meant(name string, known []string) string {
	if near := schema.Suggest(name, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "known are: " + strings.Join(known, ", ")
}

// kind runs the cases of one kind and returns what is wrong with the kind
// itself, or errFindings.
func (o *testOptions) kind(ctx context.Context, name string) error {
	if err := o.catalog.Broken[name]; err != nil {
		fmt.Fprintf(o.out, "FAIL %s\n", name)
		return err
	}
	cases, err := o.catalog.Cases(name)
	if err == nil && len(cases) == 0 {
		fmt.Fprintf(o.out, "none %s: no cases\n", name)
	}
	errs := []error{err}
	for _, one := range cases {
		findings, err := o.one(ctx, one)
		verdict := "ok  "
		if err != nil || findings != "" {
			verdict = "FAIL"
			errs = append(errs, err, errFindings)
		}
		fmt.Fprintf(o.out, "%s %s/%s\n%s", verdict, name, one.Name, indented(findings))
	}
	return errors.Join(errs...)
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("     " + line)
	}
	return b.String()
}

// one runs a case and returns what differs, or writes it where it may.
func (o *testOptions) one(ctx context.Context, one *offline.Case) (findings string, err error) {
	outcome, err := o.catalog.Run(ctx, one)
	if err != nil {
		return "", err
	}
	_, want := one.Wants[offline.FileWant]
	wanted, wantError := one.Wants[offline.FileWantError]
	switch {
	case outcome.Err != nil && !wantError && (want || !o.update):
		return "it does not render:\n" + strings.Join(lines(outcome.Err), "\n") + "\n", nil
	case outcome.Err != nil:
		return o.wantError(one, outcome.Err, wanted)
	case wantError:
		return "it renders, but " + offline.FileWantError + " wants an error\n", nil
	case !want && !o.update:
		return "there is neither " + offline.FileWant + " nor " + offline.FileWantError + ": write one, or run with --update\n", nil
	}
	for _, file := range []string{offline.FileWant, offline.FileWantWaits, offline.FileWantStatus} {
		text, err := o.compare(one, file, outcome.Got[file])
		if err != nil {
			return "", err
		}
		findings += text
	}
	return findings, nil
}

// place is the position at the beginning of a message, which may move.
var place = regexp.MustCompile(`^\S+?:\d+(:\d+)?: `)

// wantError checks that every wanted line is part of a message.
func (o *testOptions) wantError(one *offline.Case, err error, wanted string) (string, error) {
	said := lines(err)
	missing := strings.TrimSpace(wanted) == ""
	for line := range strings.Lines(wanted) {
		missing = missing || !strings.Contains(strings.Join(said, "\n"), strings.TrimSpace(line))
	}
	if !missing {
		return "", nil
	}
	if !o.update {
		return fmt.Sprintf("%s wants:\n%s\nbut it said:\n%s\n", offline.FileWantError, strings.TrimSpace(wanted), strings.Join(said, "\n")), nil
	}
	for i := range said {
		said[i] = place.ReplaceAllString(said[i], "")
	}
	return "", o.write(one, offline.FileWantError, strings.Join(said, "\n")+"\n")
}

// compare returns how a wanted text differs; a status that nobody wants is not
// compared, and nothing is wanted to wait if it is not said.
func (o *testOptions) compare(one *offline.Case, file, got string) (string, error) {
	text, there := one.Wants[file]
	if !there && !o.update && file == offline.FileWantStatus {
		return "", nil
	}
	want, err := offline.Canonical(filepath.Join(one.Dir, file), text)
	switch {
	case err == nil && want == got && (there || got == ""):
		return "", nil
	case o.update && file == offline.FileWantWaits && got == "":
		return "", o.remove(one, file)
	case o.update:
		return "", o.write(one, file, got)
	case err != nil:
		return "", err
	}
	return string(diff.Diff(file, []byte(want), "rendered", []byte(got))), nil
}

// write writes what is wanted and says so.
func (o *testOptions) write(one *offline.Case, file, text string) error {
	name := filepath.Join(one.Dir, file)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		return fmt.Errorf("updating golden case %s: %w", one.Name, err)
	}
	fmt.Fprintf(o.out, "wrote %s\n", name)
	if _, wanted := one.Wants[file]; !wanted && loud[file] != "" {
		fmt.Fprintf(o.out, "     %s. If that is not meant, remove the file and mend the case:\n%s", loud[file], indented(text))
	}
	return nil
}

// loud is what is said of files that nobody may want.
var loud = map[string]string{
	offline.FileWantError: "THIS CASE FAILS, and now wants to",
	offline.FileWantWaits: "THIS CASE WAITS, and now wants to",
}

// remove removes what is no longer wanted and says so.
func (o *testOptions) remove(one *offline.Case, file string) error {
	name := filepath.Join(one.Dir, file)
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("updating golden case %s: %w", one.Name, err)
	}
	fmt.Fprintf(o.out, "removed %s\n", name)
	return nil
}
