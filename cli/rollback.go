//go:build !operator

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/admin/confirm"
	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/history"
)

type rollbackOptions struct {
	historyOptions
	confirmation
	to, digest string
	release    bool
	wait       time.Duration
}

func newRollback() *cobra.Command {
	var o rollbackOptions
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Serve an earlier revision of a kind's folder",
		Long: `Serve an earlier revision of a kind's folder in place of the present folder: by
default the newest one that was rolled out completely, and was not rolled back from.
The revision is rolled out as a changed folder is. Where the present folder was just
being rolled out, the resources that it had reached go back at once.

Without --yes, the command prints which resources change and every deletion, and
changes nothing. On a terminal, it then asks. Otherwise, it prints the command that
carries out just this plan: --digest is the digest of the folder that is to be left,
and if that is not the present folder any more, nothing is done. With --yes, the
deletions that were listed are approved. If others show later, the rollout stops.
What you may not preview, or what takes longer than 30 seconds, is listed as such.

The present folder is that in the operator's ConfigMaps, whether the operator has
loaded it or not. If it is elsewhere, an operator must run.

The rollback holds until there is a third folder. To end it earlier, use --end: then
the present folder is rolled out again. It prints the same plan, but approves no
deletion: a rollout that would delete more than it may stops, and waits for jacquard
approve. There --digest is that of the revision.

With --wait, the command waits until all resources are served by the revision.

The exit code is 0 if it was done, or with --dry-run; else 1.`,
		Example: "  jacquard rollback webs.example.com\n  jacquard rollback web --to-revision 3 --yes --wait\n  jacquard rollback web --end",
		Args:    oneKind(&o.wait),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.commonFlags(cmd)
	o.confirmation.addFlags(cmd)
	cmd.Flags().StringVar(&o.to, "to-revision", "", "revision to serve: its number, or at least six characters of its digest")
	cmd.Flags().StringVar(&o.digest, "digest", "", "only act if the folder that is to be left has this digest")
	cmd.Flags().BoolVar(&o.release, "end", false, "end the rollback, and serve the present folder again")
	waitFlag(cmd, &o.wait, "all resources are served by the revision")
	cmd.MarkFlagsMutuallyExclusive("to-revision", "end")
	return cmd
}

func (o *rollbackOptions) run(cmd *cobra.Command, name string) error {
	h, p, err := o.planRollback(cmd.Context(), name, o.to)
	if err != nil {
		return err
	}
	if o.digest != "" && o.digest != p.Leaves {
		return fmt.Errorf("rolling back %s: nothing was changed, since the folder that is to be left is another one: it was %s, and is %s now; look again at jacquard rollback %s",
			h.Kind, o.digest, p.Leaves, h.Kind)
	}
	pins, preview := []string{"--digest", p.Leaves}, h.Preview(cmd.Context(), p)
	if p.Revision != nil {
		pins = append([]string{"--to-revision", strconv.FormatInt(p.Revision.Number, 10)}, pins...)
	}
	out := stripControls(cmd.OutOrStdout())
	printPlan(out, h, p, preview)
	if may, err := o.confirmPlan(cmd, "Do it?", []string{h.Kind}, pins...); !may {
		return err
	}
	if err := o.write(cmd.Context(), h, p, preview.Approved); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n", describeOutcome(h, p))
	return o.waitForCRD(cmd, o.wait, h.Kind, func(crd metav1.Object) health.Progress { return h.Progress(p, crd) })
}

// planRollback reads the history of a kind, and makes the plan that the flags ask for. to is a
// revision.
func (o *rollbackOptions) planRollback(ctx context.Context, name, to string) (*history.History, *history.Plan, error) {
	h, err := o.readHistory(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if o.release {
		p, err := h.PlanRelease(ctx)
		return h, p, err
	}
	p, err := h.Plan(ctx, to)
	return h, p, err
}

// write carries out a plan, if a new look at the cluster still gives the same one.
func (o *rollbackOptions) write(ctx context.Context, h *history.History, p *history.Plan, approved string) error {
	to := ""
	if p.Revision != nil {
		to = p.Revision.Digest
	}
	now, again, err := o.planRollback(ctx, h.Kind, to)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if again.Leaves != p.Leaves {
		return fmt.Errorf("rolling back %s: nothing was changed, since the folder that is to be left changed meanwhile: it was %s, and is %s now",
			h.Kind, p.Leaves, again.Leaves)
	}
	if again.Target != p.Target {
		return fmt.Errorf("rolling back %s: nothing was changed, since the present folder changed meanwhile: it was %s, and is %s now",
			h.Kind, cmp.Or(p.Target, "not known"), cmp.Or(again.Target, "not known"))
	}
	cfg, err := o.clientConfig()
	if err != nil {
		return err
	}
	return now.Write(ctx, cfg, p, approved)
}

// describeOutcome says what a plan comes to that was carried out.
func describeOutcome(h *history.History, p *history.Plan) string {
	if p.Revision == nil {
		return fmt.Sprintf("released: the present folder of %s is rolled out again", h.Kind)
	}
	return fmt.Sprintf("%s goes back to revision %d (%s) until there is a third folder; to end that: jacquard rollback %s --end",
		h.Kind, p.Revision.Number, p.Revision.Digest, h.Kind)
}

// printPlan writes what a rollback, or the end of one, would do.
func printPlan(w io.Writer, h *history.History, p *history.Plan, preview *history.Preview) {
	if p.Revision == nil {
		fmt.Fprintf(w, "the rollback of %s to revision %s ends, and its present folder (%s) is rolled out again\n", h.Kind, p.Leaves,
			cmp.Or(p.Target, "not known"))
	} else {
		fmt.Fprintf(w, "%s goes back from its folder (%s) to revision %d (%s), which is %s old\n", h.Kind, p.Leaves, p.Revision.Number,
			p.Revision.Digest, formatAge(p.Revision.Made, time.Now()))
	}
	for _, text := range p.Unknown {
		fmt.Fprintf(w, "not known: %s\n", text)
	}
	if preview.Of > 0 || len(preview.Unknown) == 0 {
		fmt.Fprintf(w, "changes %d of %d resources\n", preview.Changed, preview.Of)
	}
	for _, g := range preview.Changes {
		fmt.Fprintf(w, "  %d with %s: %s\n", len(g.Resources), g.Text, joinFew(g.Resources))
	}
	fmt.Fprint(w, confirm.Deletions(preview.Deletes))
	if len(preview.Unknown) > 0 {
		fmt.Fprintln(w, "cannot be previewed:")
	}
	for _, g := range preview.Unknown {
		fmt.Fprintf(w, "  %s\n", g.Text)
		if len(g.Resources) > 0 {
			fmt.Fprintf(w, "    %d resources: %s\n", len(g.Resources), joinFew(g.Resources))
		}
	}
	if preview.Stops != "" {
		fmt.Fprintf(w, "the rollout stops before it begins: %s\n", preview.Stops)
	}
	if p.Revision == nil {
		fmt.Fprintf(w, "the end of a rollback approves no deletion: a rollout that would delete more than it may stops, and waits for jacquard approve %s\n", h.Kind)
	} else if preview.Changed > 0 {
		fmt.Fprintf(w, "the differences: jacquard diff %s --all --revision %d --full\n", h.Kind, p.Revision.Number)
	}
}
