package live

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A Packed is an object as a watch delivered it: its metadata, and JSON that is
// decoded when somebody looks. That takes a fraction of the time and the memory of
// maps.
type Packed struct {
	metav1.PartialObjectMetadata
	// JSON is the whole object, or what Cut left of it.
	JSON []byte
}

var _ runtime.Object = &Packed{}

// Pack reads the metadata of an object and keeps its JSON, which must not be
// changed afterwards.
func Pack(object []byte) (*Packed, error) {
	p := &Packed{JSON: object}
	if err := utiljson.Unmarshal(object, &p.PartialObjectMetadata); err != nil {
		return nil, fmt.Errorf("reading an object's metadata: %w", err)
	}
	return p, nil
}

// Unpack returns the whole object. It is the caller's own.
func (p *Packed) Unpack() (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(p.JSON, &u.Object); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", p.Kind, p.Name, err)
	}
	return u, nil
}

// Unpack returns the whole of an object that is packed. It is the caller's own.
func (o Object) Unpack() (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(o.packed, &u.Object); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", o.GVK.Kind, o.Key(), err)
	}
	return u, nil
}

// DeepCopyObject returns a copy; the JSON is shared, since nobody changes it.
func (p *Packed) DeepCopyObject() runtime.Object {
	return &Packed{PartialObjectMetadata: *p.DeepCopy(), JSON: p.JSON}
}

// IsPacked reports whether there is a body that Unpacked returns.
func (o Object) IsPacked() bool { return o.packed != nil }

// Runtime is the object as a reflector's store may keep it while a list streams in.
func (o Object) Runtime() runtime.Object {
	switch meta := o.Meta.(type) {
	case *metav1.ObjectMeta:
		return &metav1.PartialObjectMetadata{ObjectMeta: *meta}
	case *metav1.PartialObjectMetadata:
		if o.packed != nil {
			return &Packed{PartialObjectMetadata: *meta, JSON: o.packed}
		}
	}
	return o.Meta.(runtime.Object) // Of took it for one
}

// Unpacked returns the object with its body, if that was packed: the fields that Cut left,
// and of the metadata also what always decides whether an object is ready.
func (o Object) Unpacked() (Object, error) {
	if o.packed == nil {
		return o, nil
	}
	body := map[string]any{}
	if err := utiljson.Unmarshal(o.packed, &body); err != nil {
		return o, fmt.Errorf("reading %s %s: %w", o.GVK.Kind, o.Key(), err)
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"], metadata["uid"] = o.Meta.GetName(), string(o.Meta.GetUID())
	if namespace := o.Meta.GetNamespace(); namespace != "" {
		metadata["namespace"] = namespace
	}
	if generation := o.Meta.GetGeneration(); generation != 0 {
		metadata["generation"] = generation
	}
	if deleted := o.Meta.GetDeletionTimestamp(); deleted != nil {
		metadata["deletionTimestamp"] = deleted.UTC().Format(time.RFC3339)
	}
	body["apiVersion"], body["kind"], body["metadata"] = o.GVK.GroupVersion().String(), o.GVK.Kind, metadata
	o.Body, o.packed = body, nil
	return o, nil
}
