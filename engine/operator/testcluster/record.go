package testcluster

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/rights"
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

// before is what the cluster says of earlier folders of a kind.
func (c *Cluster) before(ctx context.Context, crd metav1.Object) rights.Before {
	marks := crd.GetAnnotations()
	kinds := func(key string) []apischema.GroupVersionKind {
		var all []apischema.GroupVersionKind
		for _, gk := range reconcile.Recorded(marks[key]) {
			all = append(all, c.version(gk))
		}
		return all
	}
	var leaving struct{ ServiceAccountName string }
	_ = json.Unmarshal([]byte(marks[api.AnnotationLeaving]), &leaving) // what cannot be read says nothing
	return rights.Before{
		Children: kinds(api.AnnotationChildKinds), Patched: kinds(api.AnnotationPatchedKinds),
		Account: leaving.ServiceAccountName, Finalizer: c.holds(ctx, crd.GetName()),
	}
}

// version is a kind in any version that it has.
func (c *Cluster) version(gk apischema.GroupKind) apischema.GroupVersionKind {
	if mapping, err := c.Client.RESTMapper().RESTMapping(gk); err == nil {
		return mapping.GroupVersionKind
	}
	return gk.WithVersion("v1")
}

// holds says whether a resource of a kind has our finalizer.
func (c *Cluster) holds(ctx context.Context, name string) bool {
	crd := c.crd(ctx, name)
	if crd == nil {
		return false
	}
	gvk, err := served(crd)
	if err != nil {
		return false
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := c.Client.List(ctx, list); err != nil {
		return false
	}
	return slices.ContainsFunc(list.Items, func(o metav1.PartialObjectMetadata) bool {
		return strings.Contains(strings.Join(o.Finalizers, ","), api.Finalizer)
	})
}
