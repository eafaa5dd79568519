package observe

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/status/health"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// An APIs knows which kinds there are in the cluster.
type APIs struct {
	Served *cluster.Served
	// Defined reports whether a CRD defines a kind, be it served just now or not.
	Defined func(schema.GroupKind) bool
}

// Needs are the kinds of children that there may be, and how much of them is
// needed, and the kinds of objects that there may be patches of: those of the
// folder (nil: none) and, in the version that the cluster prefers, those on
// record on the CRD (nil: nothing is on record).
func Needs(k *kind.Kind, crd metav1.Object, apis APIs) (children map[schema.GroupVersionKind]live.Need, patched []schema.GroupVersionKind) {
	var annotations map[string]string
	if crd != nil {
		annotations = crd.GetAnnotations()
	}
	return childKinds(k, apis.parseRecord(annotations[api.AnnotationChildKinds])), patchedKinds(k,
		apis.parseRecord(annotations[api.AnnotationPatchedKinds]))
}

func childKinds(k *kind.Kind, recorded []schema.GroupVersionKind) map[schema.GroupVersionKind]live.Need {
	all := map[schema.GroupVersionKind]live.Need{}
	have := map[schema.GroupKind]bool{}
	if k != nil {
		for _, c := range k.Children {
			all[c.GroupVersionKind] = needOf(k, c.GroupVersionKind)
			have[c.GroupKind()] = true
		}
	}
	for _, gvk := range recorded {
		if !have[gvk.GroupKind()] {
			all[gvk] = needOf(k, gvk)
		}
	}
	return all
}

func patchedKinds(k *kind.Kind, recorded []schema.GroupVersionKind) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	if k != nil {
		for _, p := range k.Patches() {
			if !slices.Contains(all, p.GroupVersionKind) {
				all = append(all, p.GroupVersionKind)
			}
		}
	}
	for _, gvk := range recorded {
		if !slices.ContainsFunc(all, func(have schema.GroupVersionKind) bool { return have.GroupKind() == gvk.GroupKind() }) {
			all = append(all, gvk)
		}
	}
	slices.SortFunc(all, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// needOf returns how much of a kind of child is needed: the fields that readiness depends on and
// that templates use, or the whole body.
func needOf(k *kind.Kind, gvk schema.GroupVersionKind) live.Need {
	need := readiness.Needs(healthOf(k), gvk.GroupKind())
	switch {
	case k == nil:
		return need
	case setsInitially(k, gvk):
		return live.Body
	}
	return need.Merge(k.ChildNeed(gvk))
}

func healthOf(k *kind.Kind) *health.Set {
	if k == nil {
		return nil
	}
	return k.Health
}

// setsInitially reports whether the folder sets fields of a kind of child only
// when it is created: later their live values are needed.
func setsInitially(k *kind.Kind, gvk schema.GroupVersionKind) bool {
	return slices.ContainsFunc(k.Documents, func(d kind.Document) bool {
		return d.GroupVersionKind == gvk && d.Marks[api.AnnotationInitialFields] != ""
	})
}

// parseRecord returns the recorded kinds, in the version that the cluster prefers. If it is
// not known whether the cluster has them, they have no version: their objects are then
// unknown, and do not count as gone.
func (a APIs) parseRecord(text string) []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	for _, gk := range api.ParseKinds(text) {
		if r, found := a.Served.Preferred(gk); found {
			all = append(all, r.GVK)
		} else if a.Served.Unknown(gk.Group) != nil || a.Defined(gk) {
			all = append(all, gk.WithVersion(""))
		}
	}
	return all
}

// DeclaresConditions reports whether a CRD declares status.conditions.
func DeclaresConditions(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return false
		}
		_, ok := v.Schema.OpenAPIV3Schema.Properties["status"].Properties["conditions"]
		return ok
	})
}
