package plan

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Ref refers to an object by kind and name.
type Ref struct {
	schema.GroupKind
	Namespace, Name string
	// IsPatch is true for a patch of an object that belongs to others. Subresource is the patched
	// subresource, or empty.
	IsPatch     bool
	Subresource string
}

// RefOf returns a reference to a live object.
func RefOf(l live.Object) Ref {
	return Ref{GroupKind: l.GVK.GroupKind(), Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName()}
}

// RefOfObject returns a reference to an object.
func RefOfObject(o *unstructured.Unstructured) Ref {
	return Ref{GroupKind: o.GroupVersionKind().GroupKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// String returns "Kind namespace/name", or "Kind name".
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Kind + " " + r.Name
	}
	return r.Kind + " " + r.Namespace + "/" + r.Name
}

// compareRefs orders references by kind, namespace and name.
func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name), cmp.Compare(a.Group, b.Group))
}
