package plan

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// PatchKey is the key of the outcome of a patch in [AppliedObjects].
func PatchKey(uid types.UID, subresource string) types.UID {
	return uid + types.UID("/"+subresource)
}

// planPatch decides about a patch of somebody else's object. Nothing of ours is
// added to it: it is exactly what was rendered.
func (in *Input) planPatch(s Step) (Step, error) {
	s.Document = s.Child.Object
	hash, err := ownership.Hash(s.Document.Object)
	if err != nil {
		return s, fmt.Errorf("planning the patch of %s %s: %w", s.Document.GetKind(), s.Document.GetName(), err)
	}
	s.Hash = hash
	in.describeContent(&s)
	s.Live, err = in.Object(s.Document)
	switch {
	case err != nil:
		s.Action, s.Why = Block, err.Error()
	case s.Live == nil:
		s.Action, s.Why = Block, "it is not there"
	case s.Live.Meta.GetDeletionTimestamp() != nil:
		s.Action, s.Why = Block, "it is being deleted"
	default:
		s.Action, s.Why = in.comparePatch(&s)
	}
	return s, nil
}

// comparePatch proves that the object has our fields, with our values.
func (in *Input) comparePatch(s *Step) (Action, string) {
	manager, sub := api.PatchManager(in.Owner.UID), s.Child.Policy.Subresource
	entry, found, err := ownership.OursAt(s.Live.Meta.GetManagedFields(), manager, sub)
	known, remembered := in.Applied[PatchKey(s.Live.Meta.GetUID(), sub)]
	same := remembered && known.Hash == s.Hash
	switch {
	case err == nil && !found && same && known.Digest == "" && slices.Contains(lasting, sub):
		return Keep, "" // before Kubernetes 1.33 no entry tells of it
	case err != nil || !found:
		return Patch, "it is not patched yet"
	case same && known.Digest == entry.Digest && known.Time == entry.Time:
		return Keep, ""
	case same && known.Time != entry.Time:
		return Patch, "somebody else patched it under our name"
	}
	if missing := entry.Missing(s.Document.Object); len(missing) > 0 {
		s.Taken, s.Takers = missing, entry.Takers(s.Document.Object)
		return Patch, "others changed " + Brief(missing)
	}
	if extra := entry.Extra(s.Document.Object); len(extra) > 0 {
		return Patch, "to give back " + Brief(extra)
	}
	if s.Live.Body == nil {
		return Block, "its present state is not known yet"
	}
	if !same && hasDifferences(s.Document, s.Live.Body) {
		return Patch, "the template renders something else now"
	}
	return Keep, ""
}

func hasDifferences(doc *unstructured.Unstructured, body map[string]any) bool {
	return slices.ContainsFunc(ownership.Differences(doc.Object, body), func(d ownership.Difference) bool { return !d.Normalised })
}

// lasting are subresources whose fields the API never lets go of: there is
// nothing to release.
var lasting = []string{"ephemeralcontainers"}

// listReleases lists the patches that nobody wants any more. While a file waits
// that may patch such objects, its patches stay.
func (in *Input) listReleases(wanted map[Ref]bool) []Release {
	manager := api.PatchManager(in.Owner.UID)
	var out []Release
	for _, l := range in.Patched {
		for _, m := range l.Meta.GetManagedFields() {
			ref := RefOf(l)
			ref.IsPatch, ref.Subresource = true, m.Subresource
			if m.Manager != manager || m.Operation != metav1.ManagedFieldsOperationApply || wanted[ref] ||
				slices.Contains(lasting, m.Subresource) || in.patchWaits(l, m.Subresource) {
				continue
			}
			out = append(out, Release{l, m.Subresource})
		}
	}
	return out
}

func (in *Input) patchWaits(l live.Object, subresource string) bool {
	if in.Patchers == nil || in.Result == nil {
		return false
	}
	files := in.Patchers(l.GVK, subresource)
	for _, w := range in.Result.Waiting {
		if slices.Contains(files, w.File) {
			return true
		}
	}
	return false
}
