//go:build !operator

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/admin/liveview"
)

// usualWait is for how long --wait waits without a time.
const usualWait = "10m"

// waitFlag is the flag --wait of commands that can wait for what they are about.
func waitFlag(cmd *cobra.Command, limit *time.Duration, until string) {
	cmd.Flags().DurationVar(limit, "wait", 0, "wait until "+until+", at most this `time`")
	cmd.Flags().Lookup("wait").NoOptDefVal = usualWait
}

// oneKind checks the arguments of a command that is about one kind and can wait.
func oneKind(wait *time.Duration) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *wait < 0 {
			return fmt.Errorf("--wait=%s: the time must be positive", *wait)
		}
		return cobra.ExactArgs(1)(cmd, args)
	}
}

// waitForCRD waits until the CRD of a kind shows that what was written on it is done; it
// does not wait if the limit is 0.
func (a *access) waitForCRD(cmd *cobra.Command, limit time.Duration, name string, progress func(metav1.Object) health.Progress) error {
	if limit == 0 {
		return nil
	}
	cfg, err := a.clientConfig()
	if err != nil {
		return err
	}
	reader, err := writerOf(cfg)
	if err != nil {
		return err
	}
	return waitFor(cmd, limit, name, func(ctx context.Context) (string, health.Progress, error) {
		crd, err := liveview.ReadCRD(ctx, reader.Reader, name)
		if err != nil {
			return name, health.Progress{}, err
		}
		return name, progress(crd), nil
	})
}

// waitFor looks until it is done, and prints how far it is whenever that changes. name is
// what the caller calls it; look returns its full name, too. The error is nil only if it
// is done.
func waitFor(cmd *cobra.Command, limit time.Duration, name string,
	look func(context.Context) (full string, p health.Progress, err error)) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	last := ""
	for {
		full, p, err := look(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && p.Message != last:
			last = p.Message
			fmt.Fprintf(stripControls(cmd.OutOrStdout()), "%s: %s\n", full, last)
		}
		switch {
		case p.Done:
			return nil
		case p.Failed:
			return errFindings
		case awaitNextLook(ctx):
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("waiting for %s: after %s it is not done: %s", name, limit, last)
		default:
			return ctx.Err()
		}
	}
}
