package lint

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/author/crdfile"
	"github.com/jacquard-operator/jacquard/author/typecheck"
	"github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/schema/compat"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// Breaking finds what a CRD no longer accepts, keeps or serves of what it did
// before.
func Breaking(before *apiextensionsv1.CustomResourceDefinition, crd *schema.CRD) []typecheck.Finding {
	var all []typecheck.Finding
	for _, b := range compat.Breaks(before, crd.Object) {
		line, column := crdfile.LocateIn(crd, b.At)
		all = append(all, typecheck.Finding{
			Class: BreakingCRD, Place: template.Place{File: crd.File, Line: line, Column: column}, Text: b.String(),
		})
	}
	return all
}

// Earlier is the CRD of a kind in an earlier state of the roots, or that which it
// seems to have taken the place of: of the same kind, and gone. It is nil if the
// kind is new.
func Earlier(earlier, c *catalog.Catalog, name string) *schema.CRD {
	if before := earlier.CRDs[name]; before != nil || c.CRDs[name] == nil {
		return before
	}
	for _, before := range earlier.CRDs {
		if before.Kind == c.CRDs[name].Kind && c.CRDs[before.Name] == nil {
			return before
		}
	}
	return nil
}
