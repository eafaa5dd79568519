package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/engine/operator"
)

func newApprove() *cobra.Command {
	var access access
	var identity string
	cmd := &cobra.Command{
		Use:   "approve NAME",
		Short: "Let the stopped rollout of a kind go on",
		Long: `Let the stopped rollout of a kind go on. NAME is that of its CRD. Why it stopped,
and what it would delete, is printed; it does not stop for this reason again
until the folder changes. To give it up instead, put the earlier folder back.

Where several installations serve a share of the kind each, --identity says whose
rollout is meant, if more than one is stopped.`,
		Example: "  jacquard approve webs.example.com",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := access.config()
			if err != nil {
				return err
			}
			record, err := operator.Approve(cmd.Context(), cfg, args[0], identity)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "approved %s, which stopped at %d of %d resources: %s\n", record.Digest, record.Done, record.Of, record.Why())
			return nil
		},
	}
	access.flags(cmd)
	cmd.Flags().StringVar(&identity, "identity", "", "the installation whose rollout is meant")
	return cmd
}
