//go:build !operator

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/admin/eject"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/apply"
)

type ejectOptions struct {
	access
	all, yes, dry, stopped bool
}

func newEject() *cobra.Command {
	var o ejectOptions
	cmd := &cobra.Command{
		Use:   "eject NAME… | --all",
		Short: "Remove Jacquard from kinds, and leave everything running",
		Long: `Remove all metadata of Jacquard from the resources of kinds, from their children
and patched objects, and from their CRDs: labels, annotations, owner references,
finalizers, entries in managedFields. The objects stay as they are, and keep
running. Deleting a resource then no longer deletes its children. NAME is that of
the CRD.

No operator may serve the kind meanwhile: stop it, or remove the kind's folder
first. Without --yes, it prints what it would do, and tries that as a dry run. You
can interrupt it and run it again.`,
		Example: "  jacquard eject webs.example.com --dry-run\n  jacquard eject --all --yes",
		Args: func(_ *cobra.Command, args []string) error {
			if o.all == (len(args) > 0) {
				return errors.New("give the names of CRDs, or --all")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "eject all kinds, and the objects of kinds whose CRD is gone")
	flags.BoolVar(&o.yes, "yes", false, "eject; without it, only print")
	flags.BoolVar(&o.dry, "dry-run", false, "only print, and try it as a dry run; this is the default")
	flags.BoolVar(&o.stopped, "operator-stopped", false, "confirm that no operator runs, if the command cannot find out")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
	return cmd
}

func (o *ejectOptions) run(cmd *cobra.Command, names []string) error {
	ctx := cmd.Context()
	cfg, err := o.clientConfig()
	if err != nil {
		return err
	}
	cfg = rest.CopyConfig(cfg)
	cfg.WarningHandler = rest.NoWarnings{} // all kinds are looked through and changed, deprecated ones too
	writer, err := writerOf(cfg)
	if err != nil {
		return err
	}
	if !o.yes {
		writer = writer.Dry()
	}
	s, err := liveview.Open(ctx, cfg, nil)
	if err != nil {
		return err
	}
	if o.all {
		names = []string{eject.All}
	}
	e, err := eject.New(ctx, s, writer, names...)
	if err != nil {
		return err
	}
	return o.ejectKinds(ctx, stripControls(cmd.OutOrStdout()), stripControls(cmd.ErrOrStderr()), e)
}

// writerOf writes to a cluster as the caller.
func writerOf(cfg *rest.Config) (*apply.Writer, error) {
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("making an HTTP client: %w", err)
	}
	return apply.NewWriter(cfg, client)
}

// ejectKinds prints what is to be ejected, and ejects it or tries that as a dry run.
func (o *ejectOptions) ejectKinds(ctx context.Context, to, trouble io.Writer, e *eject.Eject) error {
	found, err := e.Find(ctx)
	for _, text := range e.Unread {
		fmt.Fprintf(trouble, "not looked through: %s\n", text)
	}
	tellFound(to, e, found)
	if err != nil { // what is not known could not be taken off
		return err
	}
	e.Tell = func(text string) { fmt.Fprintln(trouble, text) }
	if !o.stopped {
		if err := e.Idle(ctx); err != nil {
			return err
		}
	}
	n := 0
	if err := e.Strip(ctx, found, func(eject.Object) { n++ }); err != nil {
		return err
	}
	switch {
	case o.yes:
		fmt.Fprintf(to, "done: everything of Jacquard was taken off; changed objects: %d\n", n)
	case o.dry:
		fmt.Fprintf(to, "nothing was changed; objects that would be: %d\n", n)
	default:
		fmt.Fprintf(to, "nothing was changed; objects that would be: %d\n", n)
		return errors.New("to do it, say --yes")
	}
	return nil
}

// tellFound tells what is to be ejected, by kind.
func tellFound(to io.Writer, e *eject.Eject, found []eject.Object) {
	for _, crd := range e.Definitions() {
		fmt.Fprintf(to, "CRD %s\n", crd.GetName())
	}
	type of struct {
		what eject.What
		kind string
	}
	counts, held := map[of]int{}, []string{}
	for _, o := range found {
		counts[of{o.What, o.Resource.GVR.GroupResource().String()}]++
		if o.Finalizer {
			held = append(held, o.String())
		}
	}
	for _, what := range []eject.What{eject.Resource, eject.Child, eject.Patched, eject.Copy} {
		keys := slices.SortedFunc(maps.Keys(counts), func(a, b of) int { return cmp.Compare(a.kind, b.kind) })
		for _, key := range keys {
			if key.what == what {
				fmt.Fprintf(to, "  %-8s  %5d  %s\n", what, counts[key], key.kind)
			}
		}
	}
	if len(held) > 0 {
		fmt.Fprintf(to, "with a finalizer, and so not to be deleted before: %s\n", joinFew(held))
	}
}

// joinFew returns the first names in one line, and how many more there are.
func joinFew(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
