package reconcile

import (
	"fmt"
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

// ignored says of a resource's annotations in our domain which do nothing there:
// they are misspelt, or belong on another object.
func ignored(resource metav1.Object) []string {
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
