package memory

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// newFieldManager returns what keeps the owners of the fields of a kind: the API server's own code.
// Lists are atomic, since there are no schemas.
func newFieldManager(c call) *managedfields.FieldManager {
	gvk := c.served.GVK
	m, err := managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), untyped{}, untyped{}, untyped{}, gvk,
		gvk.GroupVersion(), c.Subresource, nil)
	if err != nil {
		panic(err) // the arguments are ours
	}
	return m
}

// untyped stands in for the server's conversions: the versions of a kind differ by their
// names alone.
type untyped struct{}

func (untyped) Default(runtime.Object) {}

func (untyped) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	return o, nil
}

func (untyped) Convert(any, any, any) error { return errors.New("there are no types") }

func (untyped) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gvk, _ := to.KindForGroupVersionKinds([]schema.GroupVersionKind{in.GetObjectKind().GroupVersionKind()})
	return convertVersion(in.(*unstructured.Unstructured), gvk), nil
}

// convertVersion copies an object into a version of its kind.
func convertVersion(o *unstructured.Unstructured, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	out := o.DeepCopy()
	out.SetGroupVersionKind(gvk)
	return out
}

func (untyped) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errors.New("there are no field labels")
}
