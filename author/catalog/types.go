package catalog

import (
	"errors"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Type returns the type of the objects of a kind: one of Kubernetes itself, or
// one that crds/ or schemas/ define. It is nil where nothing is known.
func (c *Catalog) Type(gvk apischema.GroupVersionKind) *schema.Type {
	if t := schema.BuiltInType(gvk); t != nil {
		return t
	}
	if v := c.Version(gvk); v != nil {
		return v.Live()
	}
	return nil
}

// Version returns the version of crds/ or schemas/ that defines a kind; nil if
// none does.
func (c *Catalog) Version(gvk apischema.GroupVersionKind) *schema.Version {
	crd := c.findDefinition(gvk.GroupKind())
	if crd == nil {
		return nil
	}
	for _, v := range crd.Versions {
		if v.Name == gvk.Version {
			return v
		}
	}
	return nil
}

// Understood returns a broken kind whose templates may be followed, because
// they only read fields that its CRD does not declare; else nil.
func (c *Catalog) Understood(name string) *kind.Kind {
	var only *kind.Undeclared
	if !errors.As(c.Broken[name], &only) || only.Kind.CheckScopes(c.scopeOf) != nil {
		return nil
	}
	return only.Kind.At(kind.Site{Scopes: c.scopeOf})
}

// Folder returns the folder of a kind as it was read; nil if it could not be.
func (c *Catalog) Folder(name string) *folder.Folder { return c.folders[name] }
