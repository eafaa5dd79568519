//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

type testOptions struct {
	roots   []string
	config  string
	update  bool
	pattern string
	// coverage is the least percentage of branches that must be covered; 0 only
	// tells, −1 does not even look.
	coverage int
	output   string
	cluster  trialOptions

	chosen  *regexp.Regexp
	catalog *catalog.Catalog
	out     io.Writer
}

func newTest() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test [NAME…]",
		Short: "Run the golden cases of kinds",
		Long: `Run the golden cases of these kinds, or of all: templates/<name>/tests/<case>/
with resource.yaml (the resource), cluster.yaml (the objects of the cluster; optional),
want.yaml (the children) or want-error.txt (the errors; each line is part of a
message), want-waiting.txt (which files wait, and for what; if any do), and
want-status.yaml (the output of status.yaml; optional). A new case needs only a
resource.yaml: --update writes the rest.

A case may have steps: 1-resource.yaml, 2-cluster.yaml, … Each step sees the children and
the status of the step before, and keeps the resource and the cluster that it does
not replace.

With --live, cases that pass also run on the cluster of --context or --kubeconfig,
where an operator must serve the kinds. Each case gets a namespace of its own, which
is deleted afterwards. Nothing outside of it is changed.`,
		Example: "  jacquard test --run ports --update\n  jacquard test --coverage=100\n" +
			"  jacquard test apps.example.com --live --context staging",
		Args: func(*cobra.Command, []string) error { return o.checkFlags() },
		RunE: func(cmd *cobra.Command, names []string) error {
			o.out = cmd.OutOrStdout()
			return o.run(cmd.Context(), names)
		},
	}
	rootFlag(cmd, &o.roots)
	configFlag(cmd, &o.config)
	flags := cmd.Flags()
	flags.BoolVar(&o.update, "update", false, "write the actual results as the expected ones")
	flags.StringVar(&o.pattern, "run", "", "only run cases whose name, <name of the kind>/<case>, matches this regular `expression`")
	flags.IntVar(&o.coverage, "coverage", -1,
		"list the branches of the templates that no case takes; with a number, fail below so many `per cent`")
	flags.Lookup("coverage").NoOptDefVal = "0"
	flags.StringVarP(&o.output, "output", "o", "text", "text, json, junit (for CI systems) or markdown (for a comment)")
	o.cluster.addFlags(cmd)
	return cmd
}

// checkFlags checks the flags, and compiles the pattern of --run.
func (o *testOptions) checkFlags() (err error) {
	if o.coverage < -1 || o.coverage > 100 {
		return fmt.Errorf("--coverage=%d: it must be from 0 to 100", o.coverage)
	}
	if !slices.Contains([]string{"text", "json", "junit", "markdown"}, o.output) {
		return fmt.Errorf("--output %s: it must be text, json, junit or markdown", o.output)
	}
	if err := o.cluster.checkFlags(o.update || o.coverage >= 0); err != nil {
		return err
	}
	if o.chosen, err = regexp.Compile(o.pattern); err != nil {
		return fmt.Errorf("--run: %w", err)
	}
	return nil
}

func (o *testOptions) run(ctx context.Context, names []string) error {
	begun := time.Now()
	if o.cluster.live {
		if _, err := o.cluster.clientConfig(); err != nil {
			return err
		}
	}
	kinds, err := loadCatalog(o.roots, o.config)
	if err != nil {
		return err
	}
	o.catalog = kinds
	if names, err = kindsNamed(kinds, names); err != nil {
		return err
	}
	errs := slices.Clone(kinds.Trouble)
	r := &testReport{}
	for _, name := range names {
		k := &testedKind{Name: name}
		r.kinds = append(r.kinds, k)
		if err := kinds.Broken[name]; err != nil {
			k.broken = err
			errs = append(errs, err)
			continue
		}
		cases, err := kinds.Cases(name)
		errs = append(errs, err)
		k.sound = err == nil
		for _, one := range cases {
			if o.isChosen(name, one, cases) {
				k.cases = append(k.cases, &testedCase{one: one})
			}
		}
	}
	if o.cluster.live {
		errs = append(errs, o.runLive(ctx, r))
	} else {
		o.runAll(ctx, r)
	}
	r.took = time.Since(begun)
	return errors.Join(append(errs, r.writeReport(o, kinds))...)
}

// isChosen reports whether a case is to be run. On a cluster, all steps of a case run if one of
// them is chosen.
func (o *testOptions) isChosen(name string, one *catalog.Case, all []*catalog.Case) bool {
	return slices.ContainsFunc(all, func(c *catalog.Case) bool {
		return (c == one || o.cluster.live && c.Dir == one.Dir) && o.chosen.MatchString(name+"/"+c.Name)
	})
}

// runAll runs all cases, as many at once as there are processors.
func (o *testOptions) runAll(ctx context.Context, r *testReport) {
	var group sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, k := range r.kinds {
		for _, c := range k.cases {
			room <- struct{}{}
			group.Go(func() {
				c.run(ctx, o)
				<-room
			})
		}
	}
	group.Wait()
}
