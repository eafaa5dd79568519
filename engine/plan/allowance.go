package plan

import (
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// Allowance returns the text by which the annotation jacquard.dev/allow-prune permits the
// deletion of an object: KIND[.GROUP]/[NAMESPACE/]NAME/UID, with the first eight
// characters of the uid. It applies to no other object, and so only once.
func Allowance(gk schema.GroupKind, o metav1.Object) string {
	uid := string(o.GetUID())
	return allowanceWithUID(gk, o, uid[:min(8, len(uid))])
}

func allowanceWithUID(gk schema.GroupKind, o metav1.Object, uid string) string {
	return path.Join(gk.String(), o.GetNamespace(), o.GetName(), uid)
}

// ParseAllowances returns the entries of the annotation.
func ParseAllowances(annotation string) (entries []string) {
	for _, entry := range strings.Split(annotation, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// isAllowed reports whether one of the entries permits the deletion of an object, by the
// beginning of its uid or by the whole uid.
func isAllowed(entries []string, gk schema.GroupKind, o metav1.Object) bool {
	return len(entries) > 0 && o.GetUID() != "" &&
		(slices.Contains(entries, Allowance(gk, o)) || slices.Contains(entries, allowanceWithUID(gk, o, string(o.GetUID()))))
}

// UnmatchedAllowances returns the entries that permit nothing, since they name none of the
// live objects.
func UnmatchedAllowances(entries []string, all []live.Object) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool {
		return slices.ContainsFunc(all, func(l live.Object) bool { return isAllowed([]string{entry}, l.GVK.GroupKind(), l.Meta) })
	})
}
