package schema

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// A Version is one version of a CRD. It is read-only, and its methods may be called from
// many goroutines at once.
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
	// GVK is the group, version and kind of the resources.
	GVK runtimeschema.GroupVersionKind
	// Namespaced reports whether resources live in a namespace.
	Namespaced bool
	// Definition is the schema as it was defined; nil if there is none.
	Definition *apiextensionsv1.CustomResourceValidation
	// Structural is the schema in the form that defaults and prunes. It is nil where
	// nothing is defaulted or pruned: no schema, or a definition of old with
	// spec.preserveUnknownFields.
	Structural *schema.Structural
}
