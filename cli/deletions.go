//go:build !operator

package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/approve"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// deletionList is what status --deletions prints as JSON.
type deletionList struct {
	Kind string `json:"kind"`
	// Stop is the ID of the stop, for approve --stop.
	Stop string `json:"stop"`
	// Deleted is how many children the rollout would delete, and Deletions are those that
	// are known.
	Deleted   int      `json:"deletionCount"`
	Deletions []string `json:"deletions"`
	// Unread says why the others are not known.
	Unread string `json:"readError,omitempty"`
}

// printDeletions prints everything that the stopped rollout of a kind would delete.
func (o *statusOptions) printDeletions(cmd *cobra.Command, name string) error {
	cfg, err := o.clientConfig()
	if err != nil {
		return err
	}
	r := reach{o.access, o.namespace}
	s, err := r.openSight(cmd.Context(), nil)
	if err != nil {
		return err
	}
	k, err := s.Kind(cmd.Context(), name)
	if err != nil {
		return notKnown(err)
	}
	stop, err := approve.Find(cmd.Context(), cfg, k.Name, o.install)
	if err != nil {
		return err
	}
	names, unread := stop.Deletions(cmd.Context(), s.Survey, o.operatorNamespace)
	known := verdict.Healthy
	if unread != nil {
		known = verdict.Unknown
	}
	if o.output == "json" {
		list := deletionList{Kind: k.Name, Stop: stop.ID(), Deleted: stop.Record.DeletionCount, Deletions: append([]string{}, names...)}
		if unread != nil {
			list.Unread = unread.Error()
		}
		return cmp.Or(encodeJSON(cmd.OutOrStdout(), list), exitOf(known))
	}
	out := stripControls(cmd.OutOrStdout())
	fmt.Fprintf(out, "%s: stop %s; children that it would delete: %d\n%s", k.Name, stop.ID(), stop.Record.DeletionCount,
		stop.ListDeletions(names, unread))
	return exitOf(known)
}
