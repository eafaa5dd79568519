package eject

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/revision"
)

// What an object is of an ejected kind.
type What string

const (
	// Child: it was made for a resource.
	Child What = "child"
	// Copy: a controller, or a person, copied labels or annotations of a child.
	Copy What = "copy"
	// Patched: it is somebody else's, and fields of it were set.
	Patched What = "patched"
	// Resource: it is a custom resource of the kind.
	Resource What = "resource"
	// Kept: it holds a revision of the kind's folder, and is deleted.
	Kept What = "revision"
	// Definition: it is the kind's CRD.
	Definition What = "CRD"
)

// A sides reports whether what makes an object a child goes, and what makes it a
// resource. Where kinds are nested, one may go while the other kind stays.
type sides struct{ child, resource bool }

// sidesOf returns which sides of an object go.
func (k kinds) sidesOf(r live.Resource, o metav1.Object) sides {
	owner, named := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
	return sides{child: !named || !k.others[owner.Kind], resource: !k.others[r.GVR.GroupResource().String()]}
}

// onResources are what people and the operator keep on resources; all else of
// ours is on children.
var onResources = []string{api.AnnotationPaused, api.AnnotationReconcileAt, api.AnnotationAllowPrune, api.AnnotationSucceeded,
	api.AnnotationOrphaned, api.Finalizer}

// isOurs reports whether a label, annotation or finalizer is to go.
func (s sides) isOurs(key string) bool {
	if slices.Contains(onResources, key) {
		return s.resource
	}
	return s.child && api.Reserved(key)
}

// hasMarks reports whether an object has a label, an annotation or a finalizer that is to go.
func (s sides) hasMarks(o metav1.Object) bool {
	return len(s.keysToRemove(o.GetLabels()))+len(s.keysToRemove(o.GetAnnotations())) > 0 || slices.ContainsFunc(o.GetFinalizers(), s.isOurs)
}

// keysToRemove returns the keys that are to go. Each is nil, so that merging removes it.
func (s sides) keysToRemove(m map[string]string) map[string]any {
	found := map[string]any{}
	for key := range m {
		if s.isOurs(key) {
			found[key] = nil
		}
	}
	return found
}

// classifyObject returns what an object is of these kinds, or "" if it is nothing of them.
func (k kinds) classifyObject(r live.Resource, o metav1.Object) What {
	s := k.sidesOf(r, o)
	owner, named := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
	uid := o.GetLabels()[api.LabelOwnerUID]
	switch {
	case r.GVK == revision.Resource.GVK && o.GetLabels()[api.LabelRevision] != "" && k.has(o.GetAnnotations()[api.AnnotationKind]):
		return Kept
	case k.resources[r.GVK.GroupKind()]:
		if k.hasTraces(r, o) || k.remainingEntries(Object{What: Resource, Resource: r, Meta: o}) != nil {
			return Resource
		}
		return ""
	case named && k.has(owner.Kind):
		if uid == "" {
			return Copy
		}
		return Child
	case s.child && uid != "" && (k.all || k.uids[uid]):
		return Copy
	case k.isPatched(o):
		return Patched
	}
	return ""
}

// hasTraces reports whether a resource bears more of what goes than the status that was written.
func (k kinds) hasTraces(r live.Resource, o metav1.Object) bool {
	return k.sidesOf(r, o).hasMarks(o) || k.isPatched(o)
}

// isPatched reports whether an object has fields of a patch.
func (k kinds) isPatched(o metav1.Object) bool {
	return slices.ContainsFunc(o.GetManagedFields(), k.isPatchEntry)
}

// isPatchEntry reports whether an entry of managedFields is that of a patch.
func (k kinds) isPatchEntry(m metav1.ManagedFieldsEntry) bool {
	uid, is := strings.CutPrefix(m.Manager, api.PatchManager(""))
	return is && (k.uids[uid] || k.all && len(uid) == len("00000000-0000-0000-0000-000000000000"))
}

// hasMarks reports whether an object has a label, an annotation or a finalizer of ours.
func hasMarks(o metav1.Object) bool { return sides{true, true}.hasMarks(o) }

// metadataPatch returns what to merge into the metadata of an object, so that nothing is left in it
// of what goes. Its values stay, and so does all that others wrote.
func (k kinds) metadataPatch(of Object) map[string]any {
	o, s := of.Meta, k.sidesOf(of.Resource, of.Meta)
	out := map[string]any{"resourceVersion": o.GetResourceVersion()}
	if of.What != Patched {
		out["labels"], out["annotations"] = s.keysToRemove(o.GetLabels()), s.keysToRemove(o.GetAnnotations())
		if left := dropMatches(o.GetFinalizers(), s.isOurs); len(left) < len(o.GetFinalizers()) {
			out["finalizers"] = left
		}
		refs := dropMatches(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return s.child && k.isOurReference(o, r) })
		if len(refs) < len(o.GetOwnerReferences()) {
			out["ownerReferences"] = refs
		}
	}
	if entries := k.remainingEntries(of); entries != nil {
		out["managedFields"] = entries
	}
	return out
}

// isOurReference reports whether an owner reference is one of ours. It refers to the resource that
// the label names, and to a kind that goes. Whoever may write labels could name any other owner.
func (k kinds) isOurReference(o metav1.Object, r metav1.OwnerReference) bool {
	if uid := o.GetLabels()[api.LabelOwnerUID]; uid == "" || string(r.UID) != uid {
		return false
	}
	owner, _ := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
	_, group, _ := strings.Cut(owner.Kind, ".")
	of, _ := schema.ParseGroupVersion(r.APIVersion) // "" is the group of none of our kinds
	return k.uids[string(r.UID)] || k.has(owner.Kind) && group != "" && of.Group == group
}

// dropMatches returns a copy of a list without the items that match.
func dropMatches[T any](all []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), drop)
}

// successor is the field manager that what was applied is handed to: that of
// kubectl apply --server-side, which then can go on with it. Were it nobody's,
// the API server would make up an owner, who is in everybody's way.
const successor = "kubectl"

// remainingEntries returns the managedFields of an object without those that go, or nil if none
// goes.
func (k kinds) remainingEntries(of Object) []metav1.ManagedFieldsEntry {
	var left []metav1.ManagedFieldsEntry
	s, all := k.sidesOf(of.Resource, of.Meta), of.Meta.GetManagedFields()
	for _, m := range all {
		own := m.Manager == api.FieldManager || of.What == Definition && m.Manager == api.FieldManager+"-install"
		applied := m.Operation == metav1.ManagedFieldsOperationApply && m.Subresource == ""
		switch {
		case k.isPatchEntry(m), own && !applied && s.resource:
			continue
		case own && applied && s.child && of.What != Patched:
			m.Manager = successor
			if slices.ContainsFunc(all, func(o metav1.ManagedFieldsEntry) bool {
				return o.Manager == successor && o.Operation == m.Operation && o.Subresource == m.Subresource
			}) {
				continue
			}
		}
		left = append(left, m)
	}
	if slices.EqualFunc(left, all, func(a, b metav1.ManagedFieldsEntry) bool { return a.Manager == b.Manager }) {
		return nil
	}
	if len(left) == 0 { // that is how the API server is told that there are none
		return []metav1.ManagedFieldsEntry{{}}
	}
	return left
}
