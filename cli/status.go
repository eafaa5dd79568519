//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/liveview"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

type statusOptions struct {
	access
	namespace, operatorNamespace string
	install, output              string
	roots                        []string
	watch, all, deletions        bool
	wait                         time.Duration
}

const statusLong = `Show the operators and their leaders, how each kind is served, which folders do not
load and why, the state of the resources, the permissions that the operator lacks,
and the CRDs that were served by an operator that is gone.

If you may not read something, this is reported, and the rest is shown. The last line
says what was looked at, and whether everything is healthy there.

With --wait, the command waits for one kind: until its present folder serves all
its resources, its rollout has stopped or the folder does not load, or the time is
over. The present folder is that in the operator's ConfigMaps, or in --root.

With --deletions, the command lists everything that the stopped rollout of one kind
would delete.

Exit codes:
  0  everything is healthy
  1  something is unhealthy, even if something else is unknown; with --wait, the
     folder does not serve all resources
  2  wrong use, such as a namespace or kind that does not exist
  3  it is not known whether everything is healthy`

func newStatus() *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status [NAME --wait[=TIME] | --deletions NAME]",
		Short: "Show the state of the operator, its kinds and their resources",
		Long:  statusLong,
		Args: func(_ *cobra.Command, args []string) error {
			namespace, name, both := strings.Cut(o.install, "/")
			switch {
			case o.wait < 0:
				return fmt.Errorf("--wait=%s: the time must be positive", o.wait)
			case o.wait > 0 && len(args) != 1:
				return fmt.Errorf("--wait needs the name of one kind: status NAME --wait")
			case o.wait > 0 && (o.watch || o.output != "text"):
				return fmt.Errorf("--wait goes with neither --watch nor --output json")
			case o.deletions && (len(args) != 1 || o.wait > 0 || o.watch):
				return fmt.Errorf("--deletions needs the name of one kind, and goes with neither --wait nor --watch")
			case o.wait == 0 && !o.deletions && len(args) > 0:
				return fmt.Errorf("status takes the name of a kind only with --wait and --deletions; see also --namespace and --installation")
			case o.output != "text" && o.output != "json":
				return fmt.Errorf("--output is text or json, not %s", o.output)
			case o.install != "" && (!both || namespace == "" || name == "" || strings.Contains(name, "/")):
				return fmt.Errorf("--installation %s: write NAMESPACE/NAME", o.install)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.deletions:
				return o.printDeletions(cmd, args[0])
			case o.wait > 0:
				return o.untilServed(cmd, args[0])
			}
			return o.run(cmd)
		},
	}
	o.addFlags(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&o.namespace, "namespace", "n", "", "only look at resources in this namespace; default all")
	operatorNamespaceFlag(cmd, &o.operatorNamespace, "", "only look for operators in this namespace; default all")
	flags.StringVar(&o.install, "installation", "", "only look at this installation, `NAMESPACE/NAME`; default all")
	moreRoots(cmd, &o.roots)
	flags.StringVarP(&o.output, "output", "o", "text", "text or json")
	flags.BoolVarP(&o.watch, "watch", "w", false, "show it again after each change, until interrupted")
	waitFlag(cmd, &o.wait, "the present folder of the kind serves all its resources")
	flags.BoolVar(&o.deletions, "deletions", false, "list everything that the stopped rollout of the kind would delete")
	cmd.MarkFlagsMutuallyExclusive("installation", "operator-namespace")
	flags.BoolVar(&o.all, "all", false, "list all resources that are not ready, and all operators without a claim")
	return cmd
}

func (o *statusOptions) run(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	folders, err := foldersIn(o.roots)
	if err != nil {
		return &exit{exitUsage, err}
	}
	last := ""
	for {
		h, err := o.readHealth(ctx, folders)
		if ctx.Err() != nil { // that is how --watch ends
			return nil
		}
		if err != nil {
			return notKnown(err)
		}
		if now := h.Says(); now != last {
			last = now
			if err := o.printReport(cmd, h); err != nil {
				return err
			}
		}
		if !o.watch {
			return exitOf(h.State)
		}
		if !awaitNextLook(ctx) {
			return nil
		}
	}
}

// printReport prints a Health in the wanted form.
func (o *statusOptions) printReport(cmd *cobra.Command, h *health.Health) error {
	if o.output == "json" {
		return encodeJSON(cmd.OutOrStdout(), h)
	}
	printHealth(stripControls(cmd.OutOrStdout()), h, time.Now(), o.all)
	return nil
}

// moreRoots is the flag --root of commands that read the folders of a cluster.
func moreRoots(cmd *cobra.Command, roots *[]string) {
	cmd.Flags().StringArrayVar(roots, "root", nil,
		"directory with folders, to find missing permissions for folders that are not in ConfigMaps; may be given several times")
}

// foldersIn are those of --root.
func foldersIn(roots []string) (map[string]*folder.Folder, error) {
	all := map[string]*folder.Folder{}
	for _, dir := range roots {
		contents, err := folder.FromDir(dir).Read()
		if err != nil {
			return nil, err
		}
		for name, f := range contents.Folders {
			all[name] = f
		}
	}
	return all, nil
}

// exitOf is the error that gives the exit code of a verdict; nil if everything is healthy.
func exitOf(v verdict.Verdict) error {
	if v == verdict.Healthy {
		return nil
	}
	return &exit{v.ExitCode(), errFindings}
}

// notKnown gives an error the exit code 3, unless it has one: if the cluster cannot be
// looked at, nothing is known.
func notKnown(err error) error {
	var coded *exit
	var kind *liveview.UnknownKindError
	switch {
	case errors.As(err, &coded):
		return err
	case errors.As(err, &kind):
		return &exit{exitUsage, err}
	}
	return &exit{verdict.Unknown.ExitCode(), err}
}

// listNamespaces returns the namespaces that the flags name.
func (o *statusOptions) listNamespaces() (all []string) {
	for _, namespace := range []string{o.namespace, o.operatorNamespace} {
		if namespace != "" {
			all = append(all, namespace)
		}
	}
	if namespace, _, both := strings.Cut(o.install, "/"); both {
		all = append(all, namespace)
	}
	return all
}

// readHealth looks at the cluster once.
func (o *statusOptions) readHealth(ctx context.Context, folders map[string]*folder.Folder) (*health.Health, error) {
	r := reach{o.access, o.namespace}
	s, err := r.openSight(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, namespace := range o.listNamespaces() {
		if there, err := s.HasNamespace(ctx, namespace); err == nil && !there {
			return nil, &exit{exitUsage, fmt.Errorf("the cluster has no namespace %s", namespace)}
		}
	}
	cfg, err := o.clientConfig()
	if err != nil {
		return nil, err
	}
	allowed, err := health.Review(cfg)
	if err != nil {
		return nil, err
	}
	return health.Of(ctx, s.Survey, health.Asked{
		Identity: o.install, OperatorNamespace: o.operatorNamespace, Namespace: o.namespace, Fallback: r.chooseNamespace(), Folders: folders,
		Program: Version(), Now: time.Now(), Allowed: allowed,
	}), nil
}
