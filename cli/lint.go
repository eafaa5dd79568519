//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/author/lint"
	"github.com/jacquard-operator/jacquard/author/typecheck"
)

type lintOptions struct {
	access
	roots    []string
	settings string
	output   string
	watch    bool
	// against are the roots of an earlier state, or "cluster"; none: nothing is compared.
	against []string
	names   []string
}

func newLint() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint [NAME…]",
		Short: "Check kinds: types, names, secrets, examples, without a cluster",
		Long: `Check these kinds, or all, as far as possible without a cluster. The templates are
followed through every branch. The CRD's schema is the type of the resource; the
types of Kubernetes, of crds/ and of schemas/ are those of the objects that the
templates read and render. Examples and golden cases are rendered, and their
children are checked.

With --against DIR, an earlier state of the root, a change of a CRD that breaks
existing resources or clients is a finding: a field that is gone, a tighter bound, a
new required field. So is a kind of child that is no longer rendered, unless
kind.yaml retires it. Otherwise the operator would lose the permissions to delete
the remaining children.

With --against cluster, CRDs are compared with those of the cluster, and tried with
its resources: lint tells how many the new CRD would refuse. A directory of that
name is ./cluster.

Findings go to stdout, each with file:line:column. Checks that were not possible,
and a summary, go to stderr. The exit code is 1 if there are findings.`,
		Example: `  jacquard lint
  jacquard lint apps.example.com --watch
  git worktree add ../before origin/main && jacquard lint --against ../before
  jacquard lint --against cluster --context production
  jacquard lint -o json | jq -r '.findings[].file' | sort -u`,
		Args: func(_ *cobra.Command, names []string) error {
			o.names = names
			return o.checkFlags()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd)
		},
	}
	rootFlag(cmd, &o.roots)
	configFlag(cmd, &o.settings)
	o.addFlags(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "format of the findings: text, json, sarif (for code scanning), markdown (for a comment), or github (annotations of a workflow)")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "check again after each change of a file, until interrupted")
	cmd.Flags().StringArrayVar(&o.against, "against", nil,
		"an earlier state of the root, to find what a change breaks or no longer renders, as often as --root; or cluster")
	cmd.ValidArgsFunction = kindNames(&o.roots)
	return cmd
}

// checkFlags refuses unknown forms, and flags that do not go together.
func (o *lintOptions) checkFlags() error {
	if !slices.Contains([]string{"text", "json", "sarif", "markdown", "github"}, o.output) {
		return fmt.Errorf("-o %s: there is no such form; known are: text, json, sarif, markdown, github", o.output)
	}
	if o.watch && o.output != "text" {
		return fmt.Errorf("--watch is for people: leave out -o %s", o.output)
	}
	if o.watch && slices.Contains(o.against, inCluster) {
		return errors.New("--watch would ask the cluster again and again: leave out --against cluster")
	}
	return nil
}

func (o *lintOptions) run(cmd *cobra.Command) error {
	p := newFindingPrinter(cmd.OutOrStdout(), cmd.ErrOrStderr())
	if o.watch {
		return o.lintAndWatch(cmd.Context(), p)
	}
	l := linted{}
	if err := o.lintKinds(cmd.Context(), l, nil); err != nil {
		if o.output != "sarif" && o.output != "markdown" {
			return err
		}
		// Others read the file all the same, and not stderr.
		return errors.Join(p.printFindings(o.output, linted{"": lint.Result{Findings: lint.Findings(err)}}), err)
	}
	if err := p.printFindings(o.output, l); err != nil {
		return err
	}
	if len(l.listFindings()) > 0 {
		return errFindings
	}
	return nil
}

// A linted is what there is to say, by name of the kind; "" is what belongs to
// none.
type linted map[string]lint.Result

// A lintFinding is a finding and the kind that it is about.
type lintFinding struct {
	kind string
	typecheck.Finding
	// reason is why it is silenced.
	reason string
}

// listFindings returns the findings of all kinds.
func (l linted) listFindings() []lintFinding {
	return l.collectOnce(func(r lint.Result, add func(lintFinding)) {
		for _, f := range r.Findings {
			add(lintFinding{Finding: f})
		}
	})
}

// listSilenced returns the findings of all kinds that comments silence.
func (l linted) listSilenced() []lintFinding {
	return l.collectOnce(func(r lint.Result, add func(lintFinding)) {
		for _, f := range r.Silenced {
			add(lintFinding{Finding: f.Finding, reason: f.Reason})
		}
	})
}

// listUnchecked returns the notes of all kinds on what is not checked, as findings without a class.
func (l linted) listUnchecked() []lintFinding {
	return l.collectOnce(func(r lint.Result, add func(lintFinding)) {
		for _, n := range r.Unchecked {
			add(lintFinding{Finding: typecheck.Finding{Place: n.Place, Text: n.Text}})
		}
	})
}

// collectOnce collects findings of all kinds, each once. Partials of templates/_lib are checked
// with every kind that calls them.
func (l linted) collectOnce(of func(r lint.Result, add func(lintFinding))) []lintFinding {
	var all []lintFinding
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(l)) {
		of(l[name], func(f lintFinding) {
			if id := string(f.Class) + f.Place.String() + f.Text; !seen[id] {
				seen[id] = true
				f.kind = name
				all = append(all, f)
			}
		})
	}
	return all
}

// countKinds returns how many kinds were checked.
func (l linted) countKinds() int {
	n := len(l)
	if _, there := l[""]; there {
		n--
	}
	return n
}

// lintKinds checks the wanted kinds for which changed returns true, or all if changed is nil.
func (o *lintOptions) lintKinds(ctx context.Context, into linted, changed func(name string) bool) error {
	loaded, err := loadCatalog(o.roots, o.settings)
	if err != nil {
		return err
	}
	names, err := kindsNamed(loaded, o.names)
	if err != nil {
		return err
	}
	maps.DeleteFunc(into, func(name string, _ lint.Result) bool { return !slices.Contains(names, name) })
	if len(loaded.Trouble) > 0 {
		into[""] = lint.Result{Findings: lint.Findings(errors.Join(loaded.Trouble...))}
	}
	before, err := o.openBaseline(ctx)
	if err != nil {
		return err
	}
	found := make([]lint.Result, len(names))
	failed := make([]error, len(names))
	var group sync.WaitGroup
	for i, name := range names {
		if _, done := into[name]; done && changed != nil && !changed(name) {
			found[i] = into[name]
			continue
		}
		group.Go(func() {
			var compared []typecheck.Finding
			var tried int
			compared, tried, failed[i] = before.compareKind(ctx, loaded, name)
			found[i] = lint.Look(ctx, loaded, name, compared...)
			found[i].Tried = tried
		})
	}
	group.Wait()
	for i, name := range names {
		into[name] = found[i]
	}
	return errors.Join(failed...)
}

// kindNames completes the names of kinds.
func kindNames(roots *[]string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		for _, root := range *roots {
			dirs, _ := filepath.Glob(filepath.Join(root, "templates", "*"))
			for _, dir := range dirs {
				if name := filepath.Base(dir); strings.HasPrefix(name, begun) && name[0] != '_' && name[0] != '.' {
					names = append(names, name)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
