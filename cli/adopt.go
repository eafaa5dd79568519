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
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "look at all resources of the kind; with --namespace, at those of this namespace")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "take the objects over; without it, only print")
	cmd.Flags().StringVar(&o.identity, "installation", "", "with --all: only look at the resources of this installation, "+
		"if several serve a shard of the kind each")
	return cmd
}

func (o *adoptOptions) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	kinds, err := loadCatalog(o.roots, o.config)
	if err != nil {
		return err
	}
	s, err := o.openSight(ctx, kinds)
	if err != nil {
		return err
	}
	a := adopting{adoptOptions: o, sight: s, to: stripControls(cmd.OutOrStdout())}
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
		err = a.adoptAll(ctx, args[0])
	} else {
		for _, arg := range args {
			err = errors.Join(err, a.adoptOne(ctx, arg))
		}
	}
	if err != nil {
		return err
	}
	return a.printTotals()
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

// adoptAll adopts the objects of all resources of a kind that the installation serves.
func (a *adopting) adoptAll(ctx context.Context, name string) error {
	s, err := a.compileFolder(ctx, name)
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
	return a.adoptResources(ctx, s, mine)
}

// adoptOne adopts the objects of the one resource that an argument names.
func (a *adopting) adoptOne(ctx context.Context, arg string) error {
	t, ok := parseTarget(arg, a.chooseNamespace())
	if !ok {
		return fmt.Errorf("%s is not NAME/RESOURCE; all resources of a kind are NAME --all", arg)
	}
	s, err := a.compileFolder(ctx, t.kind)
	if err != nil {
		return err
	}
	resource, err := a.read(ctx, s.Kind, t)
	if err != nil {
		return err
	}
	return a.adoptResources(ctx, s, []*unstructured.Unstructured{resource})
}

// adoptResources adopts what may be adopted, if the command has --yes. It prints everything that it
// finds.
func (a *adopting) adoptResources(ctx context.Context, s diff.Sight, resources []*unstructured.Unstructured) error {
	for _, r := range adopt.Find(ctx, s, resources) {
		err := a.markObjects(ctx, s, r)
		a.printResource(r)
		if err != nil {
			return err
		}
	}
	return nil
}

// markObjects marks what may be adopted. What may not be adopted may depend on a Secret that was
// just marked, so markObjects then looks again.
func (a *adopting) markObjects(ctx context.Context, s diff.Sight, r *adopt.Resource) error {
	if a.writer == nil {
		return nil
	}
	n, err := r.Mark(ctx, a.writer, s.Kind.Resource)
	stays := slices.ContainsFunc(r.Objects, func(o adopt.Object) bool { return o.Why != "" })
	if err != nil || n == 0 || !stays {
		return err
	}
	for _, again := range adopt.Find(ctx, s, []*unstructured.Unstructured{r.Object}) {
		if err := a.markObjects(ctx, s, again); err != nil {
			return err
		}
		r.Objects = append(slices.DeleteFunc(r.Objects, func(o adopt.Object) bool { return !o.Adoptable() }), again.Objects...)
	}
	return nil
}

// printResource prints what becomes of the objects of a resource, or why that is not known.
func (a *adopting) printResource(r *adopt.Resource) {
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
		verb, why := a.countObject(o)
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

// countObject counts an object, and returns what becomes of it and why.
func (a *adopting) countObject(o *adopt.Object) (verb, why string) {
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
	return a.describeAdoption(), why
}

// describeAdoption returns what becomes of an object that may be adopted.
func (a *adopting) describeAdoption() string {
	if a.yes {
		return "adopted"
	}
	return "can be adopted"
}

// printTotals prints how many objects there were of each sort. It returns an error if some cannot
// be adopted.
func (a *adopting) printTotals() error {
	fmt.Fprintf(a.to, "%s: %d, stay as they are: %d, missing: %d\n", a.describeAdoption(), a.adopted, a.wrong, a.missing)
	if a.wrong > 0 {
		return errFindings
	}
	return nil
}
