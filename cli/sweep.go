//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/sweep"
	"github.com/jacquard-operator/jacquard/author/catalog"
)

type sweepOptions struct {
	reach
	roots []string
	yes   bool
}

func newSweep() *cobra.Command {
	var o sweepOptions
	cmd := &cobra.Command{
		Use:   "sweep NAME [RESOURCE/[NAMESPACE/]NAME…]",
		Short: "List children whose resource is gone, and delete those that you name",
		Long: `List the children of a kind whose resource no longer exists, by its uid. They are
left if a finalizer or an owner reference was removed, or if their resource was
deleted with --cascade=orphan. NAME is that of the kind's CRD, which may be gone.
The operator never deletes them, because somebody may want to keep them.

With --yes, the named children are deleted; name them as they are listed. Without
--yes, the deletion is only tried as a dry run. Never deleted are children with
jacquard.dev/on-delete: keep, PersistentVolumeClaims, Namespaces and CRDs, and
Secrets with texts of stable. The folder (--root) shows which Secrets these are;
without it, no Secret is deleted.`,
		Example: "  jacquard sweep webs.example.com\n  jacquard sweep webs.example.com configmaps/team-a/shop --yes",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return errors.New("give the name of a CRD")
			case o.yes && len(args) == 1:
				return errors.New("name what is to be deleted, as it is listed without --yes")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1:]) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringArrayVar(&o.roots, "root", nil,
		"directory with folders, to know which Secrets contain texts of stable; may be given several times")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "delete the named children")
	return cmd
}

func (o *sweepOptions) run(cmd *cobra.Command, name string, named []string) error {
	ctx := cmd.Context()
	var kinds *catalog.Catalog
	var err error
	if len(o.roots) > 0 {
		if kinds, err = loadCatalog(o.roots, ""); err != nil {
			return err
		}
	}
	s, err := o.openSight(ctx, kinds)
	if err != nil {
		return err
	}
	var drawn func(file string) bool
	if kinds != nil {
		folder, err := s.compileFolder(ctx, name)
		if err != nil {
			return err
		}
		drawn = folder.Folder.Draws
	}
	found, unread, err := sweep.Orphans(ctx, s.Survey, name)
	if err != nil {
		return err
	}
	for _, text := range unread {
		fmt.Fprintf(stripControls(cmd.ErrOrStderr()), "not looked through: %s\n", text)
	}
	to := stripControls(cmd.OutOrStdout())
	if len(named) == 0 {
		listOrphans(to, found, drawn)
		if len(found) == 0 && len(unread) > 0 {
			fmt.Fprintln(to, "every child that could be listed has its resource")
		} else if len(found) == 0 {
			fmt.Fprintln(to, "every child has its resource")
		}
		return nil
	}
	chosen, err := chooseOrphans(found, named, drawn)
	if err != nil {
		return err
	}
	return o.delete(ctx, to, chosen)
}

func listOrphans(to io.Writer, found []sweep.Orphan, drawn func(string) bool) {
	for _, o := range found {
		stays := ""
		if why := o.Stays(drawn); why != "" {
			stays = ", is never swept: " + why
		}
		fmt.Fprintf(to, "%s  of %s/%s%s\n", o, o.Of.Namespace, o.Of.Name, stays)
	}
}

// chooseOrphans returns those that are named, unless one of them may not be deleted.
func chooseOrphans(found []sweep.Orphan, named []string, drawn func(string) bool) (chosen []sweep.Orphan, err error) {
	for _, name := range named {
		i := slices.IndexFunc(found, func(f sweep.Orphan) bool { return f.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("sweeping %s: no child of that name has lost its resource", name)
		}
		if why := found[i].Stays(drawn); why != "" {
			return nil, fmt.Errorf("sweeping %s: it is never swept: %s", name, why)
		}
		chosen = append(chosen, found[i])
	}
	return chosen, nil
}

// delete deletes children, or with no --yes tries to.
func (o *sweepOptions) delete(ctx context.Context, to io.Writer, chosen []sweep.Orphan) error {
	cfg, err := o.access.clientConfig()
	if err != nil {
		return err
	}
	writer, err := writerOf(cfg)
	if err != nil {
		return err
	}
	said := "deleted"
	if !o.yes {
		writer, said = writer.Dry(), "would be deleted"
	}
	for _, f := range chosen {
		if err := sweep.Delete(ctx, writer, f); err != nil {
			return err
		}
		fmt.Fprintf(to, "%s: %s\n", f, said)
	}
	return nil
}
