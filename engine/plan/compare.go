package plan

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// garbageCollectable reports whether the garbage collector finds an object in that
// namespace ("" is none) from the owner, that is whether an owner reference is
// allowed.
func garbageCollectable(owner Owner, namespace string) bool {
	return owner.Namespace == "" || owner.Namespace == namespace
}

// hasReference reports whether children in a namespace have a reference to the owner,
// unless they are to stay: it may have one, and does not keep them all.
func hasReference(owner Owner, namespace string) bool {
	return !owner.Keeps && garbageCollectable(owner, namespace)
}

// Ours reports whether an object that carries our label is a child of the owner:
// our Apply entry owns that label, and the owner controls it where it can. The
// label alone proves nothing, since controllers and people copy labels.
func Ours(owner Owner, o metav1.Object) bool { return isNamedChild(owner, o) && wasApplied(o) }

// isNamedChild reports whether an object says that it is a child of the owner.
func isNamedChild(owner Owner, o metav1.Object) bool {
	c := controllerOf(o)
	switch {
	case c != nil && c.UID != owner.UID:
		return false
	case c == nil && hasReference(owner, o.GetNamespace()) && !isKept(o):
		return false
	case c == nil && o.GetAnnotations()[api.AnnotationOwner] != owner.String():
		return false
	}
	return o.GetLabels()[api.LabelOwnerUID] == string(owner.UID)
}

// Ours is Ours for an object of which there may be a Applied: while our entry is as it
// was after the last apply, which put the label on, it need not be read.
func (all AppliedObjects) Ours(owner Owner, o metav1.Object) bool {
	return isNamedChild(owner, o) && (all.isUntouched(o) || wasApplied(o))
}

// isUntouched reports whether our entry is as the server left it after the last apply.
func (all AppliedObjects) isUntouched(o metav1.Object) bool {
	known, remembered := all[o.GetUID()]
	if !remembered {
		return false
	}
	mark, found := ownership.MarkAt(o.GetManagedFields(), api.FieldManager, "")
	return found && mark == ownership.Mark{Digest: known.Digest, Time: known.Time}
}

// Controls reports whether an object's controller is the owner: it stays so when
// somebody takes our label off.
func Controls(owner Owner, o metav1.Object) bool {
	c := controllerOf(o)
	return c != nil && c.UID == owner.UID
}

// wasApplied reports whether we have put our label on an object: nobody has copied it.
func wasApplied(o metav1.Object) bool {
	entry, ok, err := ownership.Ours(o.GetManagedFields(), api.FieldManager)
	return err == nil && ok && entry.Owns("metadata", "labels", api.LabelOwnerUID)
}

// WrittenBy returns the revision that wrote a child last, or "". It is only proved by our Apply
// entry: anybody can write an annotation.
func WrittenBy(o metav1.Object) string {
	entry, ok, err := ownership.Ours(o.GetManagedFields(), api.FieldManager)
	if err != nil || !ok || !entry.Owns("metadata", "labels", api.LabelOwnerUID) ||
		!entry.Owns("metadata", "annotations", api.AnnotationWrittenBy) {
		return ""
	}
	return o.GetAnnotations()[api.AnnotationWrittenBy]
}

// OtherVersions returns the versions of its API, other than the owner's own, by which
// children refer to the owner.
func OtherVersions(owner Owner, all []live.Object) []string {
	var found []string
	for _, l := range all {
		if c := controllerOf(l.Meta); c != nil && c.UID == owner.UID && c.APIVersion != owner.GVK.GroupVersion().String() {
			found = append(found, c.APIVersion)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TakeOver reports whether an existing object may become a child of the owner:
// nobody else controls it, and its annotation names this very resource, or
// made says that this process applied this very object before, and somebody
// took our marks off, or its file says to adopt it. If not, it says whose it is.
func TakeOver(owner Owner, o metav1.Object, made, adopt bool) (ok bool, whose string) {
	if c := controllerOf(o); c != nil && c.UID != owner.UID {
		return false, fmt.Sprintf("it belongs to %s %s", c.Kind, c.Name)
	}
	named, _ := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
	if named == owner.Owner {
		return true, ""
	}
	if named.Name != "" {
		return false, fmt.Sprintf("it belongs to %s %s/%s", named.Kind, named.Namespace, named.Name)
	}
	if made || adopt {
		return true, ""
	}
	return false, "it was not made by this resource"
}

// compareChild decides about a child whose object is there.
func (in *Input) compareChild(s *Step) {
	o := s.Live.Meta
	_, wasApplied := in.Applied[o.GetUID()]
	why, recreate := mustRecreate(s)
	switch {
	case o.GetDeletionTimestamp() != nil:
		s.Action, s.Why = Block, "the object is being deleted"
	case !in.Applied.Ours(in.Owner, o):
		ok, whose := TakeOver(in.Owner, o, wasApplied, s.Child.Policy.Adopt)
		if s.Action, s.Why = Update, "it is taken over"; !ok {
			s.Action, s.Why = Refuse, whose
		}
	case recreate:
		s.Action, s.Why = Recreate, why
	case len(s.Child.Policy.Initial) > 0 && s.Live.Body == nil:
		s.Action, s.Why = Block, describeUnknown(s.Document.GetKind(), nil)
	default:
		s.Action, s.Why = in.proveContent(s)
	}
	s.ReadsFirst = s.Action == Update && in.readsFirst(s)
}

// proveContent proves by field ownership that a child says what is wanted, or says
// why not.
func (in *Input) proveContent(s *Step) (Action, string) {
	o := s.Live.Meta
	known, remembered := in.Applied[o.GetUID()]
	if o.GetAnnotations()[api.AnnotationDesired] != s.Hash {
		return Update, "the template renders something else now"
	}
	if s.Child.Policy.Once && !hasMarks(s.Document, o) {
		return Update, "its owner reference or annotations are not up to date"
	}
	if ownership.CoOwner(o.GetManagedFields(), api.FieldManager) >= 0 {
		return Update, "an earlier writer holds its fields too"
	}
	if i := ownership.PlainText(o.GetManagedFields(), api.FieldManager); i >= 0 {
		return Update, o.GetManagedFields()[i].Manager + " applied stringData"
	}
	if remembered && known.Hash == s.Hash && in.Applied.isUntouched(o) {
		return Keep, ""
	}
	entry, _, _ := ownership.Ours(o.GetManagedFields(), api.FieldManager)
	if missing := entry.Missing(s.Document.Object); len(missing) > 0 {
		s.Taken, s.Takers = missing, entry.Takers(s.Document.Object)
		return Update, "others changed " + Brief(missing)
	}
	if remembered && known.Hash == s.Hash && known.Time != entry.Time {
		return Update, "somebody else applied it under our name"
	}
	if extra := entry.Extra(s.Document.Object); len(extra) > 0 {
		return Update, "to give back " + Brief(extra)
	}
	return Keep, ""
}

// hasMarks reports whether a live object has the owner reference and the annotations that
// the engine adds to a document. The hash of a Job made once does not cover them.
func hasMarks(doc *unstructured.Unstructured, o metav1.Object) bool {
	for _, key := range []string{api.AnnotationOwner, api.AnnotationFile, api.AnnotationDrawn} {
		if doc.GetAnnotations()[key] != o.GetAnnotations()[key] {
			return false
		}
	}
	want, have := controllerOf(doc), controllerOf(o)
	return want == nil || have != nil && want.APIVersion == have.APIVersion
}

// hasFailedPhase reports whether a Pod or Job ended Failed.
func hasFailedPhase(body map[string]any) bool {
	status, _ := body["status"].(map[string]any)
	if status["phase"] == "Failed" {
		return true
	}
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if m, _ := c.(map[string]any); m["type"] == "Failed" && m["status"] == "True" {
			return true
		}
	}
	return false
}

// Brief names at most three paths.
func Brief(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:3], ", "), len(paths)-3)
	}
	return strings.Join(paths, ", ")
}
