package compat

import (
	"cmp"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A Break is one change that breaks existing resources or clients.
type Break struct {
	// Version is the version that it is about; "" for the definition as a whole.
	Version string
	// Field is the field, such as spec.ports[].name: of the resource, or, without
	// a version, of the definition. "" is the version as a whole.
	Field string
	// At is its path in the new definition, or the path that it would have.
	At string
	// Text says what breaks, and what to do.
	Text string

	// lost: values that are stored are dropped.
	lost bool
}

// String returns the version, the field and the text.
func (b Break) String() string {
	text := b.Text
	if b.Field != "" {
		text = b.Field + ": " + text
	}
	switch {
	case b.Version == "":
		return text
	case b.Field == "":
		return b.Version + ": " + text
	}
	return b.Version + " " + text
}

type (
	definition     = apiextensionsv1.CustomResourceDefinition
	definedVersion = apiextensionsv1.CustomResourceDefinitionVersion
)

// Breaks compares a definition with what it was before. The status of the earlier
// one, if it has any, says in which versions resources are stored.
func Breaks(before, after *apiextensionsv1.CustomResourceDefinition) []Break {
	before, after = before.DeepCopy(), after.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(before)
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(after)
	c := &comparison{}
	c.compareNames(&before.Spec, &after.Spec)
	for i := range before.Spec.Versions {
		was := &before.Spec.Versions[i]
		c.compareVersion(was, after.Spec.Versions, slices.Contains(before.Status.StoredVersions, was.Name))
	}
	c.compareStorage(before, after)
	return c.breaks
}

// A comparison collects breaks of one version after the other.
type comparison struct {
	version string
	breaks  []Break
}

func (c *comparison) add(field, at, text string) {
	c.breaks = append(c.breaks, Break{Version: c.version, Field: field, At: at, Text: text})
}

const newKind = "clients find another kind or none, and the API server may refuse the change: make a new kind beside the old one"

// compareNames compares what the kind is called and where its resources live.
func (c *comparison) compareNames(before, after *apiextensionsv1.CustomResourceDefinitionSpec) {
	for _, n := range []struct{ field, was, is string }{
		{"spec.group", before.Group, after.Group},
		{"spec.scope", string(before.Scope), string(after.Scope)},
		{"spec.names.kind", before.Names.Kind, after.Names.Kind},
		{"spec.names.plural", before.Names.Plural, after.Names.Plural},
		{"spec.names.singular", before.Names.Singular, after.Names.Singular},
		{"spec.names.listKind", before.Names.ListKind, after.Names.ListKind},
	} {
		if n.was != n.is {
			c.add(n.field, n.field, fmt.Sprintf("it was %s and is %s, so %s", n.was, n.is, newKind))
		}
	}
	if before.PreserveUnknownFields && !after.PreserveUnknownFields {
		c.add("spec.preserveUnknownFields", "spec.preserveUnknownFields",
			"it was true, so fields that no schema declares are dropped from now on: declare those that resources have")
	}
}

// compareVersion compares a version with that of the same name.
func (c *comparison) compareVersion(was *definedVersion, among []definedVersion, stored bool) {
	c.version = was.Name
	i := slices.IndexFunc(among, func(v definedVersion) bool { return v.Name == was.Name })
	switch {
	case i < 0 && stored:
		c.add("", "spec.versions", "it is gone, but status.storedVersions has it, so the API server refuses the change: "+
			"keep it with served: false until all resources are stored in another version and storedVersions says so")
		return
	case i < 0 && was.Served:
		c.add("", "spec.versions", "it is gone, so its clients and manifests fail: keep it with deprecated: true until nobody uses it")
		return
	case i < 0:
		return
	}
	is, at := &among[i], fmt.Sprintf("spec.versions[%d]", i)
	if was.Served && !is.Served {
		c.add("", at+".served", "it is no longer served, so its clients and manifests fail: serve it with deprecated: true until nobody uses it")
	}
	if !was.Served && !was.Storage && !stored || !is.Served && !is.Storage {
		return // nobody sees one of them
	}
	c.compareRoots(was.Schema, is.Schema, at+".schema.openAPIV3Schema")
	if !was.Served || !is.Served {
		return
	}
	c.compareSubresources(was.Subresources, is.Subresources, at+".subresources")
	for _, f := range was.SelectableFields {
		if !slices.Contains(is.SelectableFields, f) {
			c.add(f.JSONPath[1:], at+".selectableFields", "it is no longer selectable, so lists by this field fail: keep it in selectableFields")
		}
	}
}

// compareSubresources compares the subresources.
func (c *comparison) compareSubresources(before, after *apiextensionsv1.CustomResourceSubresources, at string) {
	was, is := cmp.Or(before, &apiextensionsv1.CustomResourceSubresources{}), cmp.Or(after, &apiextensionsv1.CustomResourceSubresources{})
	if was.Status != nil && is.Status == nil {
		c.add("", at+".status", "the status subresource is gone, so what controllers write there fails: keep subresources: {status: {}}")
	}
	if was.Scale != nil && is.Scale == nil {
		c.add("", at+".scale", "the scale subresource is gone, so autoscalers and kubectl scale fail: keep it")
	}
}

// compareStorage finds fields that a move to another storage version drops.
func (c *comparison) compareStorage(before, after *definition) {
	stored := func(v definedVersion) bool { return v.Storage }
	old, i := slices.IndexFunc(before.Spec.Versions, stored), slices.IndexFunc(after.Spec.Versions, stored)
	if old < 0 || i < 0 || after.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		return
	}
	was, is := before.Spec.Versions[old], after.Spec.Versions[i]
	if was.Name == is.Name {
		return
	}
	moved := &comparison{version: is.Name}
	moved.compareRoots(was.Schema, is.Schema, fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i))
	for _, b := range moved.breaks {
		if b.lost {
			b.Text = fmt.Sprintf("resources move from %s to this version when they are written next, and lose this field, "+
				"because nothing converts them: declare it here too, or convert by a webhook", was.Name)
			c.breaks = append(c.breaks, b)
		}
	}
}
