package live

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

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

// Cut returns the object with no more of its body than is needed.
func (o Object) Cut(need Need) Object {
	switch {
	case need == Metadata:
		o.Body, o.packed = nil, nil
	case need == Body:
	case o.packed != nil:
		o.packed = pickJSON(o.packed, need.splitPaths())
	case o.Body != nil:
		body := pickFields(o.Body, need.splitPaths()).(map[string]any)
		for _, key := range []string{"apiVersion", "kind", "metadata"} {
			if v, found := o.Body[key]; found {
				body[key] = v
			}
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

// IsAlike reports whether two reads of one object, packed and cut alike, saw the same body.
func (o Object) IsAlike(other Object) bool {
	return o.IsPacked() && other.IsPacked() && o.Meta.GetUID() == other.Meta.GetUID() &&
		o.Meta.GetGeneration() == other.Meta.GetGeneration() && o.Meta.GetDeletionTimestamp().Equal(other.Meta.GetDeletionTimestamp()) &&
		bytes.Equal(o.packed, other.packed)
}

// HasBody reports whether something of the body is known, packed or not.
func (o Object) HasBody() bool { return o.Body != nil || o.IsPacked() }

// Equal is Same for two reads between which the CRD may have changed, and with it how the API
// server shows an object that did not.
func (o Object) Equal(other Object) bool { return o.Same(other) && bytes.Equal(o.packed, other.packed) }
