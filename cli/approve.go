//go:build !operator

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/approve"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
)

type approveOptions struct {
	access
	confirmation
	identity, stop string
	// operatorNamespace is where the operator stores what a rollout would delete.
	operatorNamespace string
	allWaves          bool
	only              []string
	wait              time.Duration
}

func newApprove() *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use:   "approve NAME",
		Short: "Let the stopped rollout of a kind continue",
		Long: `Let the stopped rollout of a kind continue. It prints why the rollout stopped, and
everything that it would delete. On a terminal, it then asks. Without a yes, nothing
is changed: it prints the command that approves just this stop, and exits with 1.

The rollout continues past the deletions and resources that are listed. For others,
and in the next wave, it stops again. To roll back instead, run jacquard rollback, or
apply the earlier folder again.

With --yes, it approves what it prints, without asking. With --stop, it approves
nothing if the folder, the reason or the deletions are not those of that stop any
more; jacquard status -o json has its ID. Nothing is approved, either, if the folder
in the operator's ConfigMaps is another one, which the operator has not loaded yet.

With --all-waves, later waves neither wait until their resources are ready nor
stop if one is refused. It first prints how many resources this affects.

With --resource, the changed folder serves only these resources, and may delete their
children. The rollout remains stopped.

With --wait, the command waits until the rollout is complete. The exit code is 1 if it
stops again, or the time is over.

If several installations serve a shard of the kind each, and several rollouts are
stopped, choose one with --installation.`,
		Example: "  jacquard approve webs.example.com\n  jacquard approve web --resource shop/front\n" +
			"  jacquard approve webs.example.com --stop 250c9685a8a1aede/Deletes/Zk3wq0aP --yes",
		Args: oneKind(&o.wait),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.access.addFlags(cmd)
	o.confirmation.addFlags(cmd)
	cmd.Flags().StringVar(&o.stop, "stop", "", "approve only the stop with this `ID`")
	cmd.Flags().StringVar(&o.operatorNamespace, "operator-namespace", "", "namespace of the operator; default the one that its identity names")
	cmd.Flags().StringVar(&o.identity, "installation", "", "approve the rollout of this installation")
	cmd.Flags().BoolVar(&o.allWaves, "all-waves", false, "do not stop later waves for this reason either")
	cmd.Flags().StringArrayVar(&o.only, "resource", nil, "roll out to this resource only, NAMESPACE/NAME; may be given several times")
	waitFlag(cmd, &o.wait, "the rollout is complete")
	cmd.MarkFlagsMutuallyExclusive("resource", "all-waves")
	cmd.MarkFlagsMutuallyExclusive("resource", "wait")
	return cmd
}

func (o *approveOptions) run(cmd *cobra.Command, name string) error {
	cfg, err := o.clientConfig()
	if err != nil {
		return err
	}
	s, err := liveview.Open(cmd.Context(), cfg, nil)
	if err != nil {
		return err
	}
	k, err := s.Kind(cmd.Context(), name)
	if err != nil {
		return err
	}
	only, err := o.resolveOnly(cmd.Context(), &sight{Survey: s}, k)
	if err != nil {
		return err
	}
	stop, err := approve.Find(cmd.Context(), cfg, k.Name, o.identity)
	if err != nil {
		return err
	}
	if o.stop != "" {
		if err := stop.Compare(o.stop); err != nil {
			return err
		}
	}
	out := stripControls(cmd.OutOrStdout())
	unknown, err := o.compareFolder(cmd.Context(), stop)
	if err != nil {
		return err
	}
	if unknown != "" {
		fmt.Fprintf(out, "not known: whether the folder has changed since the rollout stopped: %s\n", unknown)
	}
	approval := rollout.Approval{AllWaves: o.allWaves, Only: only}
	names, unread := stop.Deletions(cmd.Context(), s, o.operatorNamespace)
	fmt.Fprint(out, stop.Plan(approval, names, unread))
	if may, err := o.confirmPlan(cmd, "Approve?", []string{stop.Kind}, "--stop", stop.ID()); !may {
		return err
	}
	if _, err := o.compareFolder(cmd.Context(), stop); err != nil {
		return err
	}
	if err := stop.Approve(cmd.Context(), approval); err != nil {
		return err
	}
	fmt.Fprintf(out, "approved: %s of folder %s\n", stop.Record.Reason, stop.Record.Target().Digest)
	return o.waitForCRD(cmd, o.wait, stop.Kind, stop.Progress)
}

// compareFolder returns an error if the folder is another one than that which stopped, whether
// the operator has loaded it or not. unknown says why that cannot be known.
func (o *approveOptions) compareFolder(ctx context.Context, stop *approve.Stop) (unknown string, err error) {
	kept := historyOptions{access: o.access, operatorNamespace: o.operatorNamespace, identity: stop.Identity()}
	h, err := kept.readHistory(ctx, stop.Kind)
	if err != nil { // an approval does not need the history
		return err.Error(), nil
	}
	if unknown, err = h.CompareStopped(ctx, stop.Record.Target().Digest); err != nil {
		return "", fmt.Errorf("approving %s: nothing was approved: %w; look at it again: jacquard approve %s", stop.Kind, err, stop.Kind)
	}
	return unknown, nil
}

// resolveOnly returns the resources of --resource as NAMESPACE/NAME. Each of them must exist.
func (o *approveOptions) resolveOnly(ctx context.Context, s *sight, k *liveview.Kind) ([]string, error) {
	var names []string
	for _, word := range o.only {
		namespace, name, both := strings.Cut(word, "/")
		if !both {
			namespace, name = "", word
		}
		if _, err := s.read(ctx, k, target{k.Name, namespace, name}); err != nil {
			return nil, err
		}
		names = append(names, namespace+"/"+name)
	}
	return names, nil
}
