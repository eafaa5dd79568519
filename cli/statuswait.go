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

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

// usualWait is for how long --wait waits without a time.
const usualWait = "10m"

// untilServed waits until the present folder of a kind serves all its resources, and
// prints how far it is whenever that changes.
func (o *statusOptions) untilServed(cmd *cobra.Command, name string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	folders, err := foldersIn(o.roots)
	if err != nil {
		return err
	}
	last := ""
	for {
		full, p, err := o.progress(ctx, name, folders)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err == nil && p.Message != last:
			last = p.Message
			fmt.Fprintf(visible(cmd.OutOrStdout()), "%s: %s\n", full, last)
		}
		switch {
		case p.Done:
			return nil
		case p.Failed:
			return errFindings
		case pause(ctx):
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fmt.Errorf("waiting for %s: after %s its present folder does not serve all its resources yet", name, o.wait)
		default:
			return ctx.Err()
		}
	}
}

// progress looks once; full is the name of the kind's CRD.
func (o *statusOptions) progress(ctx context.Context, name string,
	folders map[string]*folder.Folder) (full string, _ health.Progress, _ error) {
	r := reach{o.access, o.namespace}
	s, err := r.open(ctx, nil)
	if err != nil {
		return "", health.Progress{}, err
	}
	k, err := s.Kind(ctx, name)
	if err != nil {
		return "", health.Progress{}, err
	}
	return k.Name, health.ProgressOf(ctx, s.Survey, health.Asked{Identity: o.install, Fallback: r.place(), Folders: folders, Now: time.Now()},
		k.Name), nil
}
