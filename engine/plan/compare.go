package plan

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/own"
)

// Ours says whether an object that carries our label is a child of the owner:
// our Apply entry owns that label, and the owner controls it. The label alone
// proves nothing, since controllers and people copy labels.
func Ours(owner Owner, o metav1.Object) bool {
	c := controller(o)
	if c == nil || c.UID != owner.UID {
		return false
	}
	entry, ok, err := own.Ours(o.GetManagedFields(), api.FieldManager)
	return err == nil && ok && entry.Owns("metadata", "labels", api.LabelOwnerUID)
}

// TakeOver says whether an existing object may become a child of the owner:
// nobody else controls it, and its annotation names this very resource, or
// made says that this process applied this very object before, and somebody
// took our marks off. If not, it says whose it is.
func TakeOver(owner Owner, o metav1.Object, made bool) (ok bool, whose string) {
	if c := controller(o); c != nil && c.UID != owner.UID {
		return false, fmt.Sprintf("it belongs to %s %s", c.Kind, c.Name)
	}
	named, _ := api.ParseOwner(o.GetAnnotations()[api.AnnotationOwner])
	if named == owner.Owner {
		return true, ""
	}
	if named.Name != "" {
		return false, fmt.Sprintf("it belongs to %s %s/%s", named.Kind, named.Namespace, named.Name)
	}
	if made {
		return true, ""
	}
	return false, "it was not made by this resource"
}

// compare decides about a child whose object is there: proof by field
// ownership that it says what is wanted, or else why not.
func (in *Input) compare(s *Step) (Action, string) {
	o := s.Live.Meta
	if o.GetDeletionTimestamp() != nil {
		return Hold, "the object is being deleted"
	}
	known, remembered := in.Memory[o.GetUID()]
	if !Ours(in.Owner, o) {
		if ok, whose := TakeOver(in.Owner, o, remembered); !ok {
			return Refuse, whose
		}
		return Update, "it is taken over"
	}
	if s.Child.Policy.RecreateOnFailed && failed(s.Live.Body) {
		return Recreate, "it ended Failed"
	}
	entry, _, _ := own.Ours(o.GetManagedFields(), api.FieldManager)
	if o.GetAnnotations()[api.AnnotationDesired] != s.Hash {
		return Update, "the template renders something else now"
	}
	if own.CoOwner(o.GetManagedFields(), api.FieldManager) >= 0 {
		return Update, "an earlier writer holds its fields too"
	}
	if remembered && known.Hash == s.Hash && known.Digest == entry.Digest && known.Time == entry.Time {
		return Keep, ""
	}
	if remembered && known.Hash == s.Hash && known.Time != entry.Time {
		return Update, "somebody else applied it under our name"
	}
	if missing := entry.Missing(s.Document.Object); len(missing) > 0 {
		return Update, "others changed " + brief(missing)
	}
	if extra := entry.Extra(s.Document.Object); len(extra) > 0 {
		return Update, "to give back " + brief(extra)
	}
	return Keep, ""
}

// failed says whether a Pod or Job ended Failed.
func failed(body map[string]any) bool {
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

// brief names at most three paths.
func brief(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:3], ", "), len(paths)-3)
	}
	return strings.Join(paths, ", ")
}
