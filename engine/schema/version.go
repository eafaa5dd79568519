package schema

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// A Version is one version of a CRD. Its methods may be called from many
// goroutines at once; validators are compiled once, at the first validation.
type Version struct {
	// Name is the version's own name, such as v1alpha1.
	Name string
	// Served and Storage are the version's flags.
	Served, Storage bool
	// Status reports whether the version has the status subresource.
	Status bool
	// Scale is the scale subresource, nil if there is none.
	Scale *apiextensionsv1.CustomResourceSubresourceScale
	// Type is the type of a whole resource of this version.
	Type *Type

	kind       runtimeschema.GroupVersionKind
	namespaced bool
	props      *apiextensions.JSONSchemaProps
	// structural is nil where nothing is defaulted or pruned: no schema, or a
	// definition of old with spec.preserveUnknownFields.
	structural *schema.Structural

	once   sync.Once
	checks checks
}

// GroupVersionKind returns the group, version and kind of the resources.
func (v *Version) GroupVersionKind() runtimeschema.GroupVersionKind { return v.kind }
