package kit

import (
	"k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// scopeOf reports whether a kind is cluster-scoped, if the cluster has a CRD for it. For others,
// CRDs of schemas/ would define that.
func (d *defined) scopeOf(gvk apischema.GroupVersionKind) (clusterScoped, known bool) {
	crd := d.byKind(gvk.GroupKind())
	return crd != nil && crd.Spec.Scope == "Cluster", crd != nil
}

// pluralOf returns the plural of a kind. If the cluster has no CRD for it, the plural is a guess.
func (d *defined) pluralOf(gvk apischema.GroupVersionKind) string {
	if crd := d.byKind(gvk.GroupKind()); crd != nil {
		return crd.Spec.Names.Plural
	}
	guess, _ := meta.UnsafeGuessKindToResource(gvk)
	return guess.Resource
}
