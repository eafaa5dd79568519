//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/admin/adopt"
	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/engine/apply"
)

// adoptOptions are the flags of `jacquard adopt`.
type adoptOptions struct {
	reach
	roots    []string
	config   string
	identity string
	all, yes bool
}

func newAdopt() *cobra.Command {
	var o adoptOptions
	cmd := &cobra.Command{
		Use:   "adopt NAME --all | NAME/[NAMESPACE/]RESOURCE…",
		Short: "Let resources take over live objects that are equal to what they render",
		Long: `Find live objects that another tool created, or that eject left, under the names of
children of a kind's resources, and let the resources take them over. NAME is that of
the kind's CRD, or kind, plural or short name.

An object is taken over only if nothing controls it and if applying the child would
change nothing but metadata of Jacquard, which a server-side dry run proves. Objects
that differ are printed with the difference and stay as they are. Nothing is deleted
or recreated.

Without --yes, it only prints. With --yes, it annotates the objects with their
resource, removes other field managers from the fields that the folder renders, and
asks the operator to reconcile the resources.

The exit code is 1 if an object that exists cannot be taken over.`,
		Example: "  jacquard adopt webs.example.com --all\n  jacquard adopt webs.example.com/team-a/shop --yes",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("give the name of a CRD and --all, or NAME/RESOURCE")
			case o.all && len(args) != 1:
				return errors.New("--all takes the name of one CRD")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	rootFlag(cmd, &o.roots)
	configFlag(cmd, &o.config)
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "look at all resources of the kind; with --namespace, at those of this namespace")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "take the objects over; without it, only print")
	cmd.Flags().StringVar(&o.identity, "identity", "", "with --all: only look at the resources of this installation, "+
		"if several serve a shard of the kind each")
	return cmd
}

func (o *adoptOptions) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	kinds, err := loadCatalog(o.roots, o.config)
	if err != nil {
		return err
	}
	s, err := o.open(ctx, kinds)
	if err != nil {
		return err
	}
	a := adopting{adoptOptions: o, sight: s, to: visible(cmd.OutOrStdout())}
	if o.yes {
		cfg, err := o.access.clientConfig()
		if err != nil {
			return err
		}
		if a.writer, err = writerOf(cfg); err != nil {
			return err
		}
	}
	if o.all {
		err = a.everything(ctx, args[0])
	} else {
		for _, arg := range args {
			err = errors.Join(err, a.one(ctx, arg))
		}
	}
	if err != nil {
		return err
	}
	return a.conclude()
}

// An adopting is one run of `jacquard adopt`.
type adopting struct {
	*adoptOptions
	*sight
	to io.Writer
	// writer is nil if it only prints.
	writer *apply.Writer
	// adopted, missing and wrong count objects.
	adopted, missing, wrong int
}

func (a *adopting) everything(ctx context.Context, name string) error {
	s, err := a.folder(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Kind.Look(a.identity); err != nil {
		return err
	}
	resources, err := s.Resources(ctx, s.Kind, a.namespace)
	if err != nil {
		return err
	}
	var mine []*unstructured.Unstructured
	for _, r := range resources {
		if s.Kind.Share.Covers(r) {
			mine = append(mine, r)
		}
	}
	return a.adopt(ctx, s, mine)
}

func (a *adopting) one(ctx context.Context, arg string) error {
	t, ok := parseTarget(arg, a.place())
	if !ok {
		return fmt.Errorf("%s is not NAME/RESOURCE; all resources of a kind are NAME --all", arg)
	}
	s, err := a.folder(ctx, t.kind)
	if err != nil {
		return err
	}
	resource, err := a.read(ctx, s.Kind, t)
	if err != nil {
		return err
	}
	return a.adopt(ctx, s, []*unstructured.Unstructured{resource})
}

// adopt adopts what may be, if the command says so, and prints it all.
func (a *adopting) adopt(ctx context.Context, s diff.Sight, resources []*unstructured.Unstructured) error {
	for _, r := range adopt.Find(ctx, s, resources) {
		err := a.mark(ctx, s, r)
		a.print(r)
		if err != nil {
			return err
		}
	}
	return nil
}

// mark marks what may be adopted. What may not may depend on a Secret that was marked:
// so it looks again.
func (a *adopting) mark(ctx context.Context, s diff.Sight, r *adopt.Resource) error {
	if a.writer == nil {
		return nil
	}
	n, err := r.Mark(ctx, a.writer, s.Kind.Resource)
	stays := slices.ContainsFunc(r.Objects, func(o adopt.Object) bool { return o.Why != "" })
	if err != nil || n == 0 || !stays {
		return err
	}
	for _, again := range adopt.Find(ctx, s, []*unstructured.Unstructured{r.Object}) {
		if err := a.mark(ctx, s, again); err != nil {
			return err
		}
		r.Objects = append(slices.DeleteFunc(r.Objects, func(o adopt.Object) bool { return !o.Adoptable() }), again.Objects...)
	}
	return nil
}

func (a *adopting) print(r *adopt.Resource) {
	if r.Trouble == "" && len(r.Objects) == 0 {
		return
	}
	fmt.Fprintln(a.to, r.Named())
	if r.Trouble != "" {
		a.wrong++
		fmt.Fprintf(a.to, "  cannot be planned: %s\n", r.Trouble)
	}
	for i := range r.Objects {
		o := &r.Objects[i]
		verb, why := a.judge(o)
		line := fmt.Sprintf("  %-14s %s  %s", verb, o.Named(), o.Place)
		if why != "" {
			line += "  # " + why
		}
		fmt.Fprintln(a.to, line)
		for text := range strings.Lines(o.Diff) {
			fmt.Fprint(a.to, "      "+text)
		}
	}
}

// judge says what becomes of an object and why, and counts it.
func (a *adopting) judge(o *adopt.Object) (verb, why string) {
	switch {
	case o.Missing:
		a.missing++
		return "is missing", ""
	case o.Why != "":
		a.wrong++
		return "stays as it is", o.Why
	}
	a.adopted++
	if o.Tool != "" {
		why = "the " + o.Tool + " still deletes it when it is uninstalled"
	}
	return a.verb(), why
}

func (a *adopting) verb() string {
	if a.yes {
		return "adopted"
	}
	return "can be adopted"
}

// conclude prints how many there were.
func (a *adopting) conclude() error {
	fmt.Fprintf(a.to, "%s: %d, stay as they are: %d, missing: %d\n", a.verb(), a.adopted, a.wrong, a.missing)
	if a.wrong > 0 {
		return errFindings
	}
	return nil
}
