//go:build !operator

package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/admin/health"
	"github.com/jacquard-operator/jacquard/engine/folder"
)

// untilServed waits until the present folder of a kind serves all its resources, and
// prints how far it is whenever that changes.
func (o *statusOptions) untilServed(cmd *cobra.Command, name string) error {
	folders, err := foldersIn(o.roots)
	if err != nil {
		return &exit{exitUsage, err}
	}
	return waitFor(cmd, o.wait, name, func(ctx context.Context) (string, health.Progress, error) {
		full, p, err := o.readProgress(ctx, name, folders)
		if err != nil {
			err = notKnown(err)
		}
		return full, p, err
	})
}

// readProgress looks once. full is the name of the kind's CRD.
func (o *statusOptions) readProgress(ctx context.Context, name string,
	folders map[string]*folder.Folder) (full string, _ health.Progress, _ error) {
	r := reach{o.access, o.namespace}
	s, err := r.openSight(ctx, nil)
	if err != nil {
		return "", health.Progress{}, err
	}
	k, err := s.Kind(ctx, name)
	if err != nil {
		return "", health.Progress{}, err
	}
	return k.Name, health.ProgressOf(ctx, s.Survey, health.Asked{Identity: o.install, OperatorNamespace: o.operatorNamespace,
		Fallback: r.chooseNamespace(), Folders: folders, Now: time.Now()}, k.Name), nil
}
