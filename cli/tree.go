//go:build !operator

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/tree"
)

type treeOptions struct {
	reach
	output string
	watch  bool
}

func newTree() *cobra.Command {
	var o treeOptions
	cmd := &cobra.Command{
		Use:   "tree NAME/[NAMESPACE/]RESOURCE",
		Short: "Show the objects of a resource, down to Pods",
		Long: `Show the conditions of a custom resource, its children with the file that rendered
each and whether it is ready, the objects that it patches, and below them the
objects that they own, down to Pods. Objects that are not ready come first, and are
marked ✗.

NAME is that of the CRD, or kind, plural or short name. No folders are needed. If
you may not list something, this is reported, and the rest is shown.`,
		Example: "  jacquard tree webs.example.com/team-a/shop",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case o.output != "text" && o.output != "json":
				return fmt.Errorf("--output is text or json, not %s", o.output)
			case len(args) != 1:
				return fmt.Errorf("give one NAME/[NAMESPACE/]RESOURCE")
			}
			if _, ok := parseTarget(args[0], ""); !ok {
				return fmt.Errorf("%q is not NAME/[NAMESPACE/]RESOURCE", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "show it again after each change, until interrupted")
	return cmd
}

func (o *treeOptions) run(cmd *cobra.Command, arg string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t, _ := parseTarget(arg, o.chooseNamespace())
	var last []byte
	for {
		found, err := o.readTree(ctx, t)
		if ctx.Err() != nil { // that is how --watch ends
			return nil
		}
		if err != nil {
			return err
		}
		now, err := json.Marshal(found)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, last) {
			if err := o.writeTree(stripControls(cmd.OutOrStdout()), found); err != nil {
				return err
			}
		}
		last = now
		if !o.watch || !awaitNextLook(ctx) {
			return nil
		}
	}
}

// every is how often --watch looks.
var every = 2 * time.Second

// awaitNextLook waits until --watch looks again. It returns false if ctx ends first.
func awaitNextLook(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(every):
		return true
	}
}

// readTree reads the objects of a resource from the cluster.
func (o *treeOptions) readTree(ctx context.Context, t target) (*tree.Tree, error) {
	s, err := o.openSight(ctx, nil)
	if err != nil {
		return nil, err
	}
	k, err := s.Kind(ctx, t.kind)
	if err != nil {
		return nil, err
	}
	resource, err := s.read(ctx, k, t)
	if err != nil {
		return nil, err
	}
	return tree.Look(ctx, s.Survey, k, resource), nil
}

// writeTree writes a tree in the wanted form.
func (o *treeOptions) writeTree(w io.Writer, t *tree.Tree) error {
	if o.output == "json" {
		return encodeJSON(w, t)
	}
	printTree(w, t, time.Now())
	return nil
}
