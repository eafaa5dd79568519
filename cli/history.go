//go:build !operator

package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/history"
)

type historyOptions struct {
	access
	operatorNamespace, identity, output string
}

func newHistory() *cobra.Command {
	var o historyOptions
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "Show the revisions of a kind's folder",
		Long: `Show the revisions of a kind's folder that its operator keeps, and what each of them
serves. A revision is a state of the folder that was served, with the partials that
it calls and its settings. It is kept as a ControllerRevision in the operator's
namespace. Revisions that serve any resource are kept, and the last ten others.

NAME is that of the CRD, or kind, plural or short name.`,
		Example: "  jacquard history webs.example.com",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.output != "text" && o.output != "json" {
				return fmt.Errorf("--output is text or json, not %s", o.output)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := o.readHistory(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if o.output == "json" {
				return encodeJSON(cmd.OutOrStdout(), h)
			}
			return printHistory(stripControls(cmd.OutOrStdout()), h, time.Now())
		},
	}
	o.commonFlags(cmd)
	cmd.Flags().StringVarP(&o.output, "output", "o", "text", "text or json")
	return cmd
}

func (o *historyOptions) commonFlags(cmd *cobra.Command) {
	o.access.addFlags(cmd)
	operatorNamespaceFlag(cmd, &o.operatorNamespace, "", "namespace of the operator; default any")
	refuseNamespace(cmd)
	cmd.Flags().StringVar(&o.identity, "installation", "", "the installation, if several serve a shard of the kind each")
}

// readHistory reads the history of a kind from the cluster.
func (o *historyOptions) readHistory(ctx context.Context, name string) (*history.History, error) {
	r := reach{access: o.access}
	s, err := r.openSight(ctx, nil)
	if err != nil {
		return nil, err
	}
	k, err := s.Kind(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := k.Look(o.identity); err != nil {
		return nil, err
	}
	return history.Of(ctx, s.Survey, k, history.Place{Namespace: o.operatorNamespace, Fallback: r.chooseNamespace()})
}

// printHistory writes revisions as text; ages are as of now.
func printHistory(w io.Writer, h *history.History, now time.Time) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, e := range h.Revisions {
		if i == 0 {
			fmt.Fprintln(columns, "REVISION\tDIGEST\tAGE\tSERVES")
		}
		serves := e.Serves
		switch {
		case e.Trouble != "" && serves != "":
			serves = fmt.Sprintf("✗ %s, but %s", serves, e.Trouble)
		case e.Trouble != "":
			serves = "✗ " + e.Trouble
		}
		fmt.Fprintf(columns, "%d\t%s\t%s\t%s\n", e.Number, e.Digest, formatAge(e.Made, now), serves)
	}
	err := columns.Flush()
	for _, note := range h.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	return err
}
