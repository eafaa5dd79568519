package schema

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// A CRD is a CustomResourceDefinition with its versions made ready for use. It
// is read-only once made and may be shared between goroutines.
type CRD struct {
	// Name is <plural>.<group>.
	Name string
	// Group, Kind, Plural and Singular are the names of spec. Singular is never
	// empty: it defaults to the kind in lower case.
	Group, Kind, Plural, Singular string
	// Namespaced reports whether resources live in a namespace.
	Namespaced bool
	// Versions are in the order of the definition.
	Versions []*Version
	// File is where the definition was read; empty for a live one.
	File string
	// Object is the definition as it was read, without defaults.
	Object *apiextensionsv1.CustomResourceDefinition
	// Source is the tree of File; nil for a live one.
	Source *yaml.Node
}

// FromObject converts a live CustomResourceDefinition. It trusts that an API
// server has accepted it; the error says which version's schema could not be
// understood.
func FromObject(object *apiextensionsv1.CustomResourceDefinition) (*CRD, error) {
	full := object.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(full)
	crd := &CRD{
		Name:       full.Name,
		Group:      full.Spec.Group,
		Kind:       full.Spec.Names.Kind,
		Plural:     full.Spec.Names.Plural,
		Singular:   full.Spec.Names.Singular,
		Namespaced: full.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Object:     object,
	}
	for i := range full.Spec.Versions {
		version, err := newVersion(full, &full.Spec.Versions[i], object.Spec.Versions[i].Schema)
		if err != nil {
			return nil, fmt.Errorf("reading version %s of CustomResourceDefinition %s: %w", full.Spec.Versions[i].Name, full.Name, err)
		}
		crd.Versions = append(crd.Versions, version)
	}
	return crd, nil
}

// Version returns the version of that name, or the storage version for "". The
// error, for a version that does not exist or is not served, lists the served ones.
func (c *CRD) Version(name string) (*Version, error) {
	var served []string
	var found *Version
	for _, v := range c.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
		if v.Name == name || name == "" && v.Storage {
			found = v
		}
	}
	if found != nil && found.Served {
		return found, nil
	}
	list := "none"
	if len(served) > 0 {
		list = strings.Join(served, ", ")
	}
	switch {
	case found != nil:
		return nil, fmt.Errorf("finding version %s of %s: it is not served (served: %s)", found.Name, c.Name, list)
	case name == "":
		return nil, fmt.Errorf("finding the storage version of %s: there is none (served: %s)", c.Name, list)
	}
	return nil, fmt.Errorf("finding version %s of %s: there is no such version (served: %s)", name, c.Name, list)
}

// newVersion makes one version of a defaulted definition ready for use; definition is its
// schema as the caller keeps it.
func newVersion(crd *apiextensionsv1.CustomResourceDefinition, in *apiextensionsv1.CustomResourceDefinitionVersion,
	definition *apiextensionsv1.CustomResourceValidation) (*Version, error) {
	v := &Version{
		Name:       in.Name,
		Served:     in.Served,
		Storage:    in.Storage,
		GVK:        runtimeschema.GroupVersionKind{Group: crd.Spec.Group, Version: in.Name, Kind: crd.Spec.Names.Kind},
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Definition: definition,
	}
	if in.Subresources != nil {
		v.Status = in.Subresources.Status != nil
		v.Scale = in.Subresources.Scale
	}
	props, err := InternalProps(definition)
	if err != nil {
		return nil, err
	}
	if props != nil && !crd.Spec.PreserveUnknownFields {
		if v.Structural, err = toStructural(props); err != nil {
			return nil, err
		}
	}
	v.Type = rootType(v.Structural, v.Namespaced)
	return v, nil
}

// InternalProps converts a schema to the internal form that validation takes;
// nil stays nil.
func InternalProps(in *apiextensionsv1.CustomResourceValidation) (*apiextensions.JSONSchemaProps, error) {
	if in == nil || in.OpenAPIV3Schema == nil {
		return nil, nil
	}
	out := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(in, out, nil); err != nil {
		return nil, fmt.Errorf("converting the schema: %w", err)
	}
	return out.OpenAPIV3Schema, nil
}

// toStructural returns the form of a schema that defaults and prunes.
func toStructural(props *apiextensions.JSONSchemaProps) (*schema.Structural, error) {
	s, err := schema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("making the schema structural: %w", err)
	}
	// The result shares its defaults with props: pruning them needs a copy.
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, fmt.Errorf("pruning defaults: %w", err)
	}
	return s, nil
}
