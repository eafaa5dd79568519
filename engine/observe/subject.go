package observe

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
)

// A Subject is a custom resource, the version of its kind that serves it, and the caches of its
// cluster.
type Subject struct {
	// Name is that of the kind.
	Name    string
	GVK     schema.GroupVersionKind
	Caches  *Caches
	Version *Version
	// Resource is as it was seen, or as our last write of it was answered.
	Resource *unstructured.Unstructured
}

// Owner returns the resource as the owner of its children.
func (s *Subject) Owner() plan.Owner {
	return plan.Owner{
		Owner: api.Owner{Kind: s.Name, Namespace: s.Resource.GetNamespace(), Name: s.Resource.GetName()},
		GVK:   s.GVK, UID: s.Resource.GetUID(), Keeps: plan.KeepsChildren(s.Resource), Revision: s.Version.Revision,
	}
}

// IsDeleting reports whether the resource is being deleted.
func (s *Subject) IsDeleting() bool { return s.Resource.GetDeletionTimestamp() != nil }

// IsPaused reports whether the resource, or its whole kind, is observed and not
// changed.
func (s *Subject) IsPaused() bool {
	crd := s.CRD()
	return s.Resource.GetAnnotations()[api.AnnotationPaused] == "true" || crd != nil && crd.GetAnnotations()[api.AnnotationPaused] == "true"
}

// Settings returns the settings of the folder; without one, as far as they are recorded,
// since deleting needs them.
func (s *Subject) Settings() kind.Settings {
	if s.Version.Kind != nil {
		return s.Version.Kind.Settings
	}
	recorded := s.DeletionSettings()
	return kind.Settings{DeletionOrder: recorded.DeletionOrder, ServiceAccountName: recorded.ServiceAccountName}
}

// DeletionSettings returns what deleting the resource needs of the folder; without one, what is
// recorded of this share's folder or, if nothing is, of one that served all resources.
func (s *Subject) DeletionSettings() kind.DeletionSettings {
	if s.Version.Kind != nil {
		return s.Version.Kind.DeletionSettings()
	}
	crd := s.CRD()
	if crd == nil {
		return kind.DeletionSettings{}
	}
	annotations := crd.GetAnnotations()
	return kind.ParseDeletionSettings(cmp.Or(annotations[s.Caches.Shard.Key(api.AnnotationLeaving)], annotations[api.AnnotationLeaving]))
}

// Allowances returns the entries by which the resource allows that children are deleted.
func (s *Subject) Allowances() []string {
	return plan.ParseAllowances(s.Resource.GetAnnotations()[api.AnnotationAllowPrune])
}

// mayPatch reports whether the kind may patch such an object in its place: anybody
// can write under our name, wherever they may write. Of a kind that the folder
// does not patch any more nobody knows where it did.
func (s *Subject) mayPatch(l live.Object) bool {
	k := s.Version.Kind
	return k == nil || !slices.ContainsFunc(k.Patches(), func(p kind.Patch) bool { return p.GroupKind() == l.GVK.GroupKind() }) ||
		k.MayBeIn(l.GVK, s.Resource.GetNamespace(), l.Meta.GetNamespace())
}

// CRD returns the metadata of the kind's CRD as last seen, or nil.
func (s *Subject) CRD() metav1.Object { return s.Caches.CRD(s.Name) }

// namespacesOf returns the namespaces that the resource's objects of a kind may be in, as
// its folder says; none: any.
func (s *Subject) namespacesOf(gvk schema.GroupVersionKind) []string {
	own, k := s.Resource.GetNamespace(), s.Version.Kind
	if own == "" || k == nil || !slices.ContainsFunc(k.Children, func(c kind.Child) bool { return c.GroupVersionKind == gvk }) &&
		!slices.ContainsFunc(k.Patches(), func(p kind.Patch) bool { return p.GroupVersionKind == gvk }) {
		return nil // it is on record alone
	}
	where, _ := k.Placement(gvk)
	if where.Rendered {
		return nil
	}
	return append([]string{own}, where.Listed...)
}

// HasFinalizer reports whether our finalizer is on the resource.
func (s *Subject) HasFinalizer() bool {
	return slices.Contains(s.Resource.GetFinalizers(), api.Finalizer)
}
