package memory

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// fields keeps the owners of fields of a kind, by the API server's own code. Lists
// are atomic, since there are no schemas.
func fields(c call) *managedfields.FieldManager {
	gvk := c.served.GVK
	m, err := managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), untyped{}, untyped{}, untyped{}, gvk,
		gvk.GroupVersion(), c.Subresource, nil)
	if err != nil {
		panic(err) // the arguments are ours
	}
	return m
}

// untyped stands in for the server's conversions: every kind has one version.
type untyped struct{}

func (untyped) Default(runtime.Object) {}

func (untyped) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	return o, nil
}

func (untyped) Convert(any, any, any) error { return errors.New("there is one version alone") }

func (untyped) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (untyped) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errors.New("there are no field labels")
}
