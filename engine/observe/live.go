package observe

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A Need is how much of its children a kind needs. A greater need includes the
// smaller ones.
type Need int

const (
	// Metadata is no body at all.
	Metadata Need = iota
	// Readiness is metadata, spec and status: what readiness is judged by.
	Readiness
	// Body is the whole object, such as the data of a ConfigMap.
	Body
)

// String returns the name of the need.
func (n Need) String() string { return [...]string{"metadata", "readiness", "body"}[n] }

// A Live is an object as the cluster has it. It is shared with the cache: read
// it, never change it.
type Live struct {
	GVK  schema.GroupVersionKind
	Meta metav1.Object
	// Body is the object as far as it is needed; nil for Metadata.
	Body map[string]any
}

// cut returns the object with no more body than is needed.
func (l Live) cut(need Need) Live {
	switch {
	case need == Metadata || l.Body == nil:
		l.Body = nil
	case need == Readiness:
		body := make(map[string]any, 5)
		for _, key := range []string{"apiVersion", "kind", "metadata", "spec", "status"} {
			if v, found := l.Body[key]; found {
				body[key] = v
			}
		}
		l.Body, l.Meta = body, &unstructured.Unstructured{Object: body}
	}
	return l
}

// liveOf makes a Live of an object from a watch, a list or a write.
func liveOf(gvk schema.GroupVersionKind, obj any) (Live, error) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		return Live{GVK: gvk, Meta: o, Body: o.Object}, nil
	case *metav1.PartialObjectMetadata:
		return Live{GVK: gvk, Meta: o}, nil
	}
	return Live{}, fmt.Errorf("reading a live %s: unexpected type %T", gvk.Kind, obj)
}

func (l Live) key() types.NamespacedName {
	return types.NamespacedName{Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName()}
}

// owner is whose child an object says it is.
func (l Live) owner() owner {
	of, _ := api.ParseOwner(l.Meta.GetAnnotations()[api.AnnotationOwner])
	return owner{of: of, uid: types.UID(l.Meta.GetLabels()[api.LabelOwnerUID])}
}

// same says whether two reads of an object saw the same of it.
func (l Live) same(o Live) bool {
	return l.Meta.GetUID() == o.Meta.GetUID() && l.Meta.GetResourceVersion() == o.Meta.GetResourceVersion()
}

func byKey(a, b Live) int {
	x, y := a.key(), b.key()
	if c := strings.Compare(x.Namespace, y.Namespace); c != 0 {
		return c
	}
	return strings.Compare(x.Name, y.Name)
}

// newer says whether resourceVersion a is later than b. A version that is not
// a number, as some aggregated APIs give, is not later than any; any number is
// later than no version.
func newer(a, b string) bool {
	if b == "" {
		return a != ""
	}
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && c > 0
}

// numbered says whether a resourceVersion is a number, as all are but those
// of some aggregated APIs.
func numbered(version string) bool {
	_, err := resourceversion.CompareResourceVersion(version, version)
	return err == nil
}
