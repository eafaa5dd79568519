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
	for _, gvk := range o.recorded(crd.Annotations[api.AnnotationChildKinds]) {
		if !have[gvk.GroupKind()] {
			all[gvk] = need(k, gvk)
		}
	}
	return all
}

// patchedKinds are the kinds of objects that there may be patches of, those of
// the folder and, in the version that the cluster prefers, those on record.
func (o *Operator) patchedKinds(k *kind.Kind, crd *apiextensionsv1.CustomResourceDefinition) []apischema.GroupVersionKind {
	var all []apischema.GroupVersionKind
	if k != nil {
		for _, p := range k.Patches() {
			if !slices.Contains(all, p.GroupVersionKind) {
				all = append(all, p.GroupVersionKind)
			}
		}
	}
	for _, gvk := range o.recorded(crd.Annotations[api.AnnotationPatchedKinds]) {
		if !slices.ContainsFunc(all, func(have apischema.GroupVersionKind) bool { return have.GroupKind() == gvk.GroupKind() }) {
			all = append(all, gvk)
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

// defined says whether a CRD defines a kind, be it served just now or not.
func (o *Operator) defined(gk apischema.GroupKind) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, crd := range o.crds {
		if crd.Spec.Group == gk.Group && crd.Spec.Names.Kind == gk.Kind {
			return true
		}
	}
	return false
}

// recorded are the kinds on record, in the version that the cluster prefers.
// Where the cluster cannot tell whether it has them, they have no version:
// their objects are then unknown, and nobody takes them for gone.
func (o *Operator) recorded(text string) []apischema.GroupVersionKind {
	served := o.discovery.Served()
	var all []apischema.GroupVersionKind
	for _, gk := range reconcile.Recorded(text) {
		if r, found := served.Preferred(gk); found {
			all = append(all, r.GVK)
		} else if served.Unknown(gk.Group) != nil || o.defined(gk) {
			all = append(all, gk.WithVersion(""))
		}
	}
	return all
}
