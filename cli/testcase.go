//go:build !operator

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/golden"
	"github.com/jacquard-operator/jacquard/author/trace"
)

// A testedCase is a golden case and what came of it.
type testedCase struct {
	one *catalog.Case
	// findings are what is not as it is wanted, news what was written, in words,
	// and wrote the names of these files.
	findings, news, wrote []string
	// skipped says why the case cannot run on the cluster.
	skipped string
	// err is about the files of the case.
	err  error
	runs []*trace.Run
	took time.Duration
}

// hasFailed reports whether the case has findings or cannot be read.
func (c *testedCase) hasFailed() bool { return c.err != nil || len(c.findings) > 0 }

// formatVerdict returns the word before the name of the case.
func (c *testedCase) formatVerdict() string {
	switch {
	case c.hasFailed():
		return "FAIL"
	case c.skipped != "":
		return "skip"
	}
	return "ok  "
}

// run runs the case and judges it, or writes what it wants where it may.
func (c *testedCase) run(ctx context.Context, o *testOptions) {
	begun := time.Now()
	defer func() { c.took = time.Since(begun) }()
	outcome, err := o.catalog.Run(ctx, c.one)
	if err != nil {
		c.err = err
		return
	}
	if outcome.Traced != nil {
		c.runs = outcome.Traced.Runs
	}
	verdict, err := golden.Judge(c.one, outcome, listMessages(outcome.Err))
	if err != nil {
		c.err = err
		return
	}
	for _, f := range verdict.Findings {
		if !f.Mends || !o.update {
			c.findings = append(c.findings, f.Text)
		}
	}
	if o.update {
		c.err = c.write(verdict.Writes)
	}
}

// write writes what is wanted and says so.
func (c *testedCase) write(all []golden.Write) error {
	for _, w := range all {
		name := c.one.Path(w.File)
		act, did := func() error { return c.one.Write(w.File, w.Text) }, "wrote"
		if w.Remove {
			act, did = func() error { return c.one.Remove(w.File) }, "removed"
		}
		if err := act(); err != nil {
			return err
		}
		news := did + " " + name + "\n"
		if w.Loud != "" {
			news += fmt.Sprintf("     %s. If that is not meant, remove the file and mend the case:\n%s", w.Loud, indentText(w.Text))
		}
		c.news, c.wrote = append(c.news, news), append(c.wrote, name)
	}
	return nil
}

// indentText returns a text as it stands below a verdict.
func indentText(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSuffix(text, "\n") + "\n") {
		b.WriteString("     " + line)
	}
	return b.String()
}
