package render

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A Policy is what a document says about itself by annotation. All but
// on-delete are taken off before it is applied.
type Policy struct {
	// Patch: the object is somebody else's; only these fields of it are
	// applied, of this Subresource unless that is "".
	Patch       bool
	Subresource string
	// RecreateOnImmutable: where the API refuses to change an immutable field,
	// delete the object and create it again; KeepDependents: orphan its
	// dependents meanwhile.
	RecreateOnImmutable, KeepDependents bool
	// RecreateOnFailed: a Pod or Job that ended Failed is deleted and created
	// again.
	RecreateOnFailed bool
	// OnDelete is what becomes of it when it is pruned or the resource goes:
	// "keep", "delete", or "" if that is not said, which means delete.
	OnDelete string
	// Once: a Job that is made once for each content, and may go after it
	// succeeded.
	Once bool
	// Initial are paths of fields that are applied only when the object is
	// created.
	Initial [][]string
	// Adopt: an existing object without controller is taken over.
	Adopt bool
}

// takePolicy reads the annotations that are ours, which are literal text, and
// takes off those that do not stay.
func (c *Child) takePolicy(k *kind.Kind, _ *unstructured.Unstructured) error {
	meta := c.Object.Object["metadata"].(map[string]any)
	if labels, ok := meta["labels"].(map[string]any); ok {
		if keys := slices.Sorted(reserved(labels)); len(keys) > 0 {
			return c.errorf([]any{"metadata", "labels", keys[0]}, "the label %s is written by the engine", keys[0])
		}
	}
	annotations, _ := meta["annotations"].(map[string]any)
	marks := map[string]string{}
	gvk := c.Object.GroupVersionKind()
	for _, key := range slices.Sorted(reserved(annotations)) {
		marks[key] = annotations[key].(string)
		if err := kind.CheckMark(gvk, key, marks[key]); err != nil {
			return &template.Error{Place: c.Doc.Place("metadata", "annotations", key), Err: err}
		}
		if key != api.AnnotationOnDelete {
			delete(annotations, key)
		}
	}
	if key, err := kind.CheckMarks(gvk, marks); err != nil {
		return &template.Error{Place: c.Doc.Place("metadata", "annotations", key), Err: err}
	}
	if annotations != nil && len(annotations) == 0 {
		delete(meta, "annotations")
	}
	c.Policy = newPolicy(marks)
	ttl, given, _ := unstructured.NestedInt64(c.Object.Object, "spec", "ttlSecondsAfterFinished")
	if c.Policy.Once && given && ttl < 1 {
		return c.errorf([]any{"spec", "ttlSecondsAfterFinished"},
			"a Job made once must stay until it is seen to have succeeded: longer than the operator may be away, such as 86400")
	}
	c.Marks = maps.Clone(marks)
	delete(c.Marks, api.AnnotationOnDelete)
	if k.Says(c.File, gvk, marks) {
		return nil
	}
	return c.errorf(nil, "the folder does not say literally what becomes of this %s: write %s and %s as literal lines in the document itself",
		gvk.Kind, api.AnnotationOwnership, api.AnnotationAdopt)
}

// checkAdopts refuses to take over an object whose name is made of anything but
// literal text and the resource's own name, whichever way it came there.
func (c *Child) checkAdopts(_ *kind.Kind, resource *unstructured.Unstructured) error {
	if !c.Policy.Adopt || c.Doc.MadeOf(resource.GetName(), "metadata", "name") {
		return nil
	}
	return c.errorf([]any{"metadata", "name"}, "%s is only for names that are literal or made of .metadata.name: a name out of the resource's spec could take over anything", api.AnnotationAdopt)
}

// newPolicy is the policy of sound marks.
func newPolicy(marks map[string]string) Policy {
	initial, _ := kind.InitialPaths(marks[api.AnnotationInitialFields]) // sound, or absent
	return Policy{
		Patch:               marks[api.AnnotationOwnership] == "patch",
		Subresource:         marks[api.AnnotationSubresource],
		RecreateOnImmutable: marks[api.AnnotationOnImmutable] != "",
		KeepDependents:      marks[api.AnnotationOnImmutable] == "recreate-keeping-dependents",
		RecreateOnFailed:    marks[api.AnnotationOnFailed] == "recreate",
		OnDelete:            marks[api.AnnotationOnDelete],
		Once:                marks[api.AnnotationRunOnce] == "true",
		Initial:             initial,
		Adopt:               marks[api.AnnotationAdopt] == "true",
	}
}

func reserved(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if api.Reserved(key) && !yield(key) {
				return
			}
		}
	}
}
