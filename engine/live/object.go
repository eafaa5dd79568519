package live

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Need is how much of its children a kind needs. A greater need includes the
// smaller ones.
type Need int

const (
	// Metadata is no body at all.
	Metadata Need = iota
	// Readiness is metadata, status, and spec but for a template of Pods: what
	// readiness is judged by.
	Readiness
	// Body is the whole object, such as the data of a ConfigMap.
	Body
)

// String returns the name of the need.
func (n Need) String() string { return [...]string{"metadata", "readiness", "body"}[n] }

// An Object is an object as the cluster has it. It is shared with the cache: read
// it, never change it.
type Object struct {
	GVK  schema.GroupVersionKind
	Meta metav1.Object
	// Body is the object as far as it is needed; nil for Metadata, and until it is
	// Unpacked.
	Body map[string]any

	packed []byte // JSON of the body; nil if it is not packed
}

// Cut returns the object with no more body than is needed.
func (o Object) Cut(need Need) Object {
	switch {
	case need == Metadata:
		o.Body, o.packed = nil, nil
	case o.packed != nil && need == Readiness:
		o.packed = judged(o.GVK, o.packed)
	case o.Body != nil && need == Readiness:
		body := make(map[string]any, 5)
		for _, key := range []string{"apiVersion", "kind", "metadata", "spec", "status"} {
			if v, found := o.Body[key]; found {
				body[key] = v
			}
		}
		if spec, is := body["spec"].(map[string]any); is && makesPods(o.GVK) {
			spec = maps.Clone(spec)
			delete(spec, "template")
			body["spec"] = spec
		}
		o.Body, o.Meta = body, &unstructured.Unstructured{Object: body}
	}
	return o
}

// Of makes an Object of an object from a watch, a list or a write.
func Of(gvk schema.GroupVersionKind, obj any) (Object, error) {
	switch from := obj.(type) {
	case *unstructured.Unstructured:
		return Object{GVK: gvk, Meta: from, Body: from.Object}, nil
	case *metav1.PartialObjectMetadata:
		return Object{GVK: gvk, Meta: from}, nil
	case *Packed:
		meta := from.PartialObjectMetadata // which alone may be kept
		return Object{GVK: gvk, Meta: &meta, packed: from.JSON}, nil
	}
	return Object{}, fmt.Errorf("reading a live %s: unexpected type %T", gvk.Kind, obj)
}

// Key returns the namespace and name.
func (o Object) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Meta.GetNamespace(), Name: o.Meta.GetName()}
}

// Same reports whether two reads of an object saw the same of it.
func (o Object) Same(other Object) bool {
	return o.Meta.GetUID() == other.Meta.GetUID() && o.Meta.GetResourceVersion() == other.Meta.GetResourceVersion()
}
