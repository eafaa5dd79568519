package kind

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// markValues are the values that the annotations of an author can have; none
// means that they are of a form of their own.
var markValues = map[string][]string{
	api.AnnotationOwnership:     {"patch"},
	api.AnnotationSubresource:   nil,
	api.AnnotationOnImmutable:   {"recreate", "recreate-keeping-dependents"},
	api.AnnotationOnFailed:      {"recreate"},
	api.AnnotationOnDelete:      {"keep", "delete"},
	api.AnnotationRunOnce:       {"true"},
	api.AnnotationInitialFields: nil,
	api.AnnotationAdopt:         {"true"},
}

// CheckMark says what is wrong with one annotation of ours on a document of
// this kind.
func CheckMark(gvk apischema.GroupVersionKind, key, value string) error {
	values, known := markValues[key]
	gk := gvk.GroupKind()
	switch {
	case !known:
		return errors.New(wrongKey(key, false))
	case len(values) == 1 && value != values[0]:
		return fmt.Errorf("%s can only be %s", key, quoteValue(values[0]))
	case values != nil && !slices.Contains(values, value):
		return fmt.Errorf("%s can only be %s", key, strings.Join(values, " or "))
	case key == api.AnnotationOnImmutable && HoldsData(gk):
		return fmt.Errorf("%s is never recreated: what is in it would be lost", gk.Kind)
	case key == api.AnnotationOnFailed && gk != job && gk != pod:
		return errors.New("on-failed: recreate is for Pods and Jobs")
	case key == api.AnnotationRunOnce && gk != job:
		return errors.New("run-once is for Jobs: take it off")
	case key == api.AnnotationSubresource && !isSubresource.MatchString(value):
		return fmt.Errorf("%s must be the name of a subresource, such as status", key)
	case key == api.AnnotationInitialFields:
		_, err := InitialPaths(value)
		return err
	}
	return nil
}

// quoteValue returns a value as it must be written in an annotation, which is a text.
func quoteValue(value string) string {
	if value == "true" {
		return `"true"`
	}
	return value
}

var (
	job           = apischema.GroupKind{Group: "batch", Kind: "Job"}
	pod           = apischema.GroupKind{Kind: "Pod"}
	isSubresource = regexp.MustCompile(`^[a-z]+$`)
)

// notInPatches are the annotations that are about an object as a whole.
var notInPatches = []string{
	api.AnnotationOnImmutable, api.AnnotationOnFailed, api.AnnotationOnDelete, api.AnnotationRunOnce,
	api.AnnotationInitialFields, api.AnnotationAdopt,
}

// CheckMarks says which of a document's annotations of ours do not go
// together, and what to do; "" if all do. The values are sound.
func CheckMarks(gvk apischema.GroupVersionKind, marks map[string]string) (key string, err error) {
	_, patch := marks[api.AnnotationOwnership]
	for _, key := range slices.Sorted(maps.Keys(marks)) {
		switch {
		case patch && slices.Contains(notInPatches, key):
			return key, fmt.Errorf("%s is for objects that are the resource's own, and this is a patch of somebody else's: take it off", key)
		case !patch && key == api.AnnotationSubresource:
			return key, fmt.Errorf("%s is for patches: add %s: patch", key, api.AnnotationOwnership)
		}
	}
	if _, said := marks[api.AnnotationOnDelete]; !said && !patch && HoldsData(gvk.GroupKind()) {
		return api.AnnotationOnDelete, fmt.Errorf(
			"a %s must say what becomes of it when the resource goes: add the annotation %s: keep or %s: delete",
			gvk.Kind, api.AnnotationOnDelete, api.AnnotationOnDelete)
	}
	return "", nil
}

// HoldsData reports whether what is in an object of this kind is lost with it.
func HoldsData(gk apischema.GroupKind) bool {
	switch gk {
	case apischema.GroupKind{Kind: "PersistentVolumeClaim"}, apischema.GroupKind{Kind: "Namespace"},
		apischema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
		return true
	}
	return false
}

var isStep = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// InitialPaths reads the annotation of initial fields: dotted paths of map
// fields, comma-separated, such as "spec.replicas, spec.paused".
func InitialPaths(value string) ([][]string, error) {
	var paths [][]string
	for _, written := range strings.Split(value, ",") {
		steps := strings.Split(strings.TrimSpace(written), ".")
		for _, s := range steps {
			if !isStep.MatchString(s) {
				return nil, fmt.Errorf("%s holds paths of fields parted by commas, such as spec.replicas; it cannot name items of lists",
					api.AnnotationInitialFields)
			}
		}
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, steps[0]) {
			return nil, fmt.Errorf("%s cannot name %s: only the object's own content can be initial", api.AnnotationInitialFields, steps[0])
		}
		paths = append(paths, steps)
	}
	return paths, nil
}
