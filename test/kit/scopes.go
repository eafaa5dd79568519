package kit

import (
	"k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// scopes and plural are what the CRDs of the cluster say of a kind. What is not
// there yet, the CRDs of schemas/ would say.
func (d *defined) scopes(gvk apischema.GroupVersionKind) (clusterScoped, known bool) {
	crd := d.byKind(gvk.GroupKind())
	return crd != nil && crd.Spec.Scope == "Cluster", crd != nil
}

func (d *defined) plural(gvk apischema.GroupVersionKind) string {
	if crd := d.byKind(gvk.GroupKind()); crd != nil {
		return crd.Spec.Names.Plural
	}
	guess, _ := meta.UnsafeGuessKindToResource(gvk)
	return guess.Resource
}
