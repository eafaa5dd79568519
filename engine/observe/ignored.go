package observe

import (
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/plan"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// IgnoredAnnotations says what of a resource's annotations in our domain does nothing.
func (w *Snapshot) IgnoredAnnotations() []string {
	return append(findIgnored(w.Subject.Resource), w.unmatchedAllowances()...)
}

// unmatchedAllowances says which entries of the annotation allow-prune allow nothing. Of a
// kind whose children are not known, nothing is said.
func (w *Snapshot) unmatchedAllowances() (all []string) {
	for _, entry := range plan.UnmatchedAllowances(w.Subject.Allowances(), w.Live) {
		gk := schema.ParseGroupKind(strings.Split(entry, "/")[0])
		switch slashes := strings.Count(entry, "/"); {
		case slashes < 2 || slashes > 3:
			all = append(all, fmt.Sprintf("%s: %s does nothing: an entry is KIND[.GROUP]/[NAMESPACE/]NAME/UID, as the status prints it",
				api.AnnotationAllowPrune, entry))
		case !w.mayHaveUnknown(gk):
			all = append(all, fmt.Sprintf("%s: %s does nothing: it names no child, or one that is gone", api.AnnotationAllowPrune, entry))
		}
	}
	return all
}

// mayHaveUnknown reports whether there may be children of a kind that are not known.
func (w *Snapshot) mayHaveUnknown(gk schema.GroupKind) bool {
	for gvk, state := range w.state {
		if gvk.GroupKind() == gk && state.Phase != live.Synced {
			return true
		}
	}
	return false
}

// findIgnored describes the annotations of a resource in our domain that do nothing there:
// they are misspelt, or belong on another object.
func findIgnored(resource metav1.Object) []string {
	var all, known []string
	for _, key := range api.ResourceAnnotations {
		known = append(known, path.Base(key))
	}
	for key, value := range resource.GetAnnotations() {
		switch {
		case !api.Reserved(key):
		case (key == api.AnnotationPaused || key == api.AnnotationProtect) && value != "true" && value != "false":
			all = append(all, fmt.Sprintf(`%s does nothing unless it is "true"`, key))
		case key == api.AnnotationOnDelete && value != "keep" && resource.GetAnnotations()[api.AnnotationOwner] == "":
			all = append(all, key+" does nothing on a resource unless it is keep")
		case slices.Contains(api.ResourceAnnotations, key):
		case slices.Contains(api.AuthorAnnotations, key):
			all = append(all, key+" does nothing on a resource: it is for documents in templates")
		case api.RenamedAnnotations[key] != "":
			all = append(all, fmt.Sprintf("%s is called %s now, and does nothing on a resource: it is for documents in templates",
				key, api.RenamedAnnotations[key]))
		default:
			text := key + " is no annotation of this operator"
			if meant := crdschema.Suggest(path.Base(key), known); meant != "" {
				text += "; is " + api.Domain + "/" + meant + " meant?"
			}
			all = append(all, text)
		}
	}
	return all
}
