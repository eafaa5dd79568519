package oci

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// An Image is what an image is built from: files in one layer, and how they are
// run.
type Image struct {
	Platform v1.Platform // OS and Architecture as Go names them
	Config   v1.Config
	Files    *Files
}

// Build builds the image. The same files and configuration give the same
// digest.
func (i Image) Build() (v1.Image, error) {
	layer, err := i.Files.layer()
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		Created: v1.Time{Time: epoch}, OS: i.Platform.OS, Architecture: i.Platform.Architecture, Variant: i.Platform.Variant,
		Config: i.Config, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, fmt.Errorf("configuring an image: %w", err)
	}
	history := v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "jacquard make image"}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: history})
	if err != nil {
		return nil, fmt.Errorf("putting files into an image: %w", err)
	}
	return image, nil
}
