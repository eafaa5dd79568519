package operator

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/ready"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// childKinds are the kinds of children there may be, those of the folder and,
// in the version that the cluster prefers, those on record; and how much of
// them is needed.
func (o *Operator) childKinds(k *kind.Kind, crd *apiextensionsv1.CustomResourceDefinition) map[apischema.GroupVersionKind]observe.Need {
	all := map[apischema.GroupVersionKind]observe.Need{}
	have := map[apischema.GroupKind]bool{}
	if k != nil {
		for _, c := range k.Children {
			all[c.GroupVersionKind] = need(k, c.GroupVersionKind)
			have[c.GroupKind()] = true
		}
	}
	for _, gk := range reconcile.Recorded(crd.Annotations[api.AnnotationChildKinds]) {
		if served, found := o.discovery.Served().Preferred(gk); found && !have[gk] {
			all[served.GVK] = need(k, served.GVK)
		}
	}
	return all
}

// undiscovered are the kinds on record of which it cannot be told just now
// whether the cluster has them.
func (o *Operator) undiscovered(crd *apiextensionsv1.CustomResourceDefinition) []apischema.GroupKind {
	var all []apischema.GroupKind
	served := o.discovery.Served()
	for _, key := range []string{api.AnnotationChildKinds, api.AnnotationPatchedKinds} {
		for _, gk := range reconcile.Recorded(crd.Annotations[key]) {
			if _, found := served.Preferred(gk); !found && served.Unknown(gk.Group) != nil {
				all = append(all, gk)
			}
		}
	}
	return all
}

// patchedKinds are the kinds of objects that there may be patches of, those of
// the folder and, in the version that the cluster prefers, those on record.
func (o *Operator) patchedKinds(k *kind.Kind, crd *apiextensionsv1.CustomResourceDefinition) []apischema.GroupVersionKind {
	var all []apischema.GroupVersionKind
	if k != nil {
		for _, d := range k.Documents {
			if d.Patch() && !slices.Contains(all, d.GroupVersionKind) {
				all = append(all, d.GroupVersionKind)
			}
		}
	}
	for _, gk := range reconcile.Recorded(crd.Annotations[api.AnnotationPatchedKinds]) {
		served, found := o.discovery.Served().Preferred(gk)
		if found && !slices.ContainsFunc(all, func(gvk apischema.GroupVersionKind) bool { return gvk.GroupKind() == gk }) {
			all = append(all, served.GVK)
		}
	}
	slices.SortFunc(all, func(a, b apischema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// need says how much of a kind of child is needed: the whole body where a
// template reads it, what readiness is judged by, or metadata.
func need(k *kind.Kind, gvk apischema.GroupVersionKind) observe.Need {
	switch {
	case k != nil && (k.Reads(gvk) || setsInitially(k, gvk)):
		return observe.Body
	case ready.NeedsBody(gvk.GroupKind()):
		return observe.Readiness
	}
	return observe.Metadata
}

// setsInitially says whether the folder sets fields of a kind of child only
// when it is created: later their live values are needed.
func setsInitially(k *kind.Kind, gvk apischema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.Documents, func(d kind.Document) bool {
		return d.GroupVersionKind == gvk && d.Marks[api.AnnotationInitial] != ""
	})
}
