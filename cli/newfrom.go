package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/jacquard-operator/jacquard/engine/scaffold"
)

func (o *newOptions) fromCRD(cmd *cobra.Command, names []string) (*scaffold.Draft, error) {
	return nil, errors.New("--from-crd is not there yet")
}

func (o *newOptions) fromManifests(cmd *cobra.Command, files []string) (*scaffold.Draft, error) {
	return nil, errors.New("--from-manifests is not there yet")
}
