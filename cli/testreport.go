//go:build !operator

package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/golden"
	"github.com/jacquard-operator/jacquard/author/trace"
)

// A testReport is what came of golden cases.
type testReport struct {
	kinds []*testedKind
	took  time.Duration
}

// A testedKind is a kind, its cases and what they cover.
type testedKind struct {
	Name   string
	broken error
	// sound: what lies in its tests/ is in order.
	sound    bool
	cases    []*testedCase
	coverage *golden.Coverage
}

// writeReport writes the report in the wanted form. Its error is about what failed, and about what
// is not covered enough.
func (r *testReport) writeReport(o *testOptions, kinds *catalog.Catalog) error {
	var errs []error
	for _, k := range r.kinds {
		var runs []*trace.Run
		for _, c := range k.cases {
			runs = append(runs, c.runs...)
			if c.hasFailed() {
				errs = append(errs, c.err, errFindings)
			}
		}
		if o.coverage >= 0 && k.broken == nil {
			k.coverage = golden.Cover(kinds.Kinds[k.Name], runs)
			if golden.Percent(k.coverage.Count()) < o.coverage {
				errs = append(errs, errFindings)
			}
		}
	}
	write := map[string]func(*testOptions) error{
		"text": r.writeText, "json": r.writeJSON, "junit": r.writeJUnit, "markdown": r.writeMarkdown,
	}[o.output]
	return errors.Join(append(errs, write(o))...)
}

// countCases returns how many cases there are, how many failed, and how many were skipped.
func (r *testReport) countCases() (all, failed, skipped int) {
	for _, k := range r.kinds {
		all += len(k.cases)
		for _, c := range k.cases {
			switch {
			case c.hasFailed():
				failed++
			case c.skipped != "":
				skipped++
			}
		}
	}
	return all, failed, skipped
}

// formatSummary returns how many cases there are, failed and were skipped.
func (r *testReport) formatSummary() string {
	all, failed, skipped := r.countCases()
	text := fmt.Sprintf("%s, %d failed", formatPlural(all, "case"), failed)
	if skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	return text
}

// writeText writes the report for people.
func (r *testReport) writeText(o *testOptions) error {
	for _, k := range r.kinds {
		if k.broken != nil {
			fmt.Fprintf(o.out, "FAIL %s\n", k.Name)
		} else if k.sound && len(k.cases) == 0 && o.pattern == "" {
			fmt.Fprintf(o.out, "none %s: no cases. %s\n", k.Name, o.firstCase(k.Name))
		}
		for _, c := range k.cases {
			fmt.Fprint(o.out, strings.Join(c.news, ""))
			fmt.Fprintf(o.out, "%s %s/%s\n", c.formatVerdict(), k.Name, c.one.Name)
			for _, f := range c.findings {
				fmt.Fprint(o.out, indentText(f))
			}
			if c.skipped != "" {
				fmt.Fprint(o.out, indentText(c.skipped))
			}
		}
	}
	r.printCoverage(o.out, o.coverage)
	_, err := fmt.Fprintf(o.out, "%s, %.2f s\n", r.formatSummary(), r.took.Seconds())
	return err
}

// firstCase says how to make the first case of a kind: of its example, if that is one
// resource.
func (o *testOptions) firstCase(name string) string {
	resource := filepath.Join(o.catalog.Roots[name], "templates", name, "tests", "example", "resource.yaml")
	update := "jacquard test " + name
	if !slices.Equal(o.roots, []string{"."}) {
		update += " --root " + strings.Join(o.roots, " --root ")
	}
	update += " --update"
	if example, err := o.catalog.Example(name); err == nil && example != nil {
		resources, _, err := o.catalog.Resources(example.Objects)
		if err == nil && len(resources) == 1 && resources[0].Kind.Name == name {
			return fmt.Sprintf("To make one of the example, run\n     mkdir -p %s\n     cp %s %s\n     %s",
				filepath.Dir(resource), example.Name, resource, update)
		}
	}
	return fmt.Sprintf("To make one, write a resource into %s, and run\n     %s", resource, update)
}

// printCoverage prints what is covered, file by file, and whether that is at least what is wanted.
func (r *testReport) printCoverage(w io.Writer, least int) {
	for _, k := range r.kinds {
		if k.coverage == nil {
			continue
		}
		covered, total := k.coverage.Count()
		verdict := "ok  "
		if golden.Percent(covered, total) < least {
			verdict = "FAIL"
		}
		fmt.Fprintf(w, "%s %s: %d of %d outcomes of branches are covered, %d %%\n", verdict, k.Name, covered, total,
			golden.Percent(covered, total))
		for _, f := range k.coverage.Files {
			if f.Total == 0 {
				fmt.Fprintf(w, "     %s: no branches\n", f.File)
				continue
			}
			fmt.Fprintf(w, "     %s: %d/%d\n", f.File, f.Covered, f.Total)
			for _, m := range f.Missing {
				fmt.Fprintf(w, "     %s:%d:%d: %s: no case has it %s\n", m.File, m.Line, m.Column, m.Text, m.Outcome)
			}
		}
	}
}

// formatPlural returns a number with its noun, in the plural unless the number is 1.
func formatPlural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
