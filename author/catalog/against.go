package catalog

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Against compiles the folder of a kind with the definition and the scopes that
// a cluster has, as the operator there does; with a nil definition, with that of
// crds/. The error is what is wrong with it then.
func (c *Catalog) Against(name string, live *schema.CRD, scopes kind.Scopes) (*kind.Kind, error) {
	f := c.folders[name]
	if live == nil {
		live = c.CRDs[name]
	}
	switch {
	case f == nil && c.Broken[name] != nil:
		return nil, c.Broken[name]
	case f == nil:
		return nil, fmt.Errorf("there is no folder templates/%s; known are: %s", name, c.Known())
	case live == nil:
		return nil, fmt.Errorf("the CRD %s is neither in the cluster nor in crds/", name)
	}
	k, err := kind.CompileWith(f, live, typecheck.Check)
	if err == nil {
		k, err = c.config.Apply(k)
	}
	if err == nil {
		err = k.CheckScopes(scopes)
	}
	if err != nil {
		return nil, err
	}
	return k.At(kind.Site{Scopes: scopes}), nil
}
