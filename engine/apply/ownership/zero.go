package ownership

import (
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// A goField is what the Go types of the Kubernetes API say of one field. Its Type is
// nil where they do not have it, as in kinds that a CRD defines.
type goField struct {
	reflect.Type
	// omitsZero is true if the API server leaves the field out when it is zero, and
	// so cannot tell zero from a field that was not sent.
	omitsZero bool
}

// goFieldOf returns the kind of a document as a goField.
func goFieldOf(doc map[string]any) goField {
	version, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	if t, found := scheme.Scheme.AllKnownTypes()[schema.FromAPIVersionAndKind(version, kind)]; found {
		return goField{Type: t}
	}
	return goField{Type: reflect.TypeFor[metav1.PartialObjectMetadata]()}
}

// fieldNamed returns the field or key of f that JSON calls name.
func (f goField) fieldNamed(name string) goField {
	t := f.valueType()
	switch {
	case t == nil:
	case t.Kind() == reflect.Map:
		return goField{Type: t.Elem()}
	case t.Kind() == reflect.Struct:
		return jsonFields(t)[name]
	}
	return goField{}
}

// itemField returns the items of a list.
func (f goField) itemField() goField {
	if t := f.valueType(); t != nil && t.Kind() == reflect.Slice {
		return goField{Type: t.Elem()}
	}
	return goField{}
}

// valueType returns the type of the value, behind a pointer or not.
func (f goField) valueType() reflect.Type {
	if f.Type != nil && f.Kind() == reflect.Pointer {
		return f.Elem()
	}
	return f.Type
}

// mayOmit reports whether a server may leave the field out when it is zero. Of fields without a Go
// type that is not known, and not held against it.
func (f goField) mayOmit() bool { return f.Type == nil || f.omitsZero }

// mayDefault reports whether a server may fill in the field when it is zero: no default of a truth
// value without pointer is true.
func (f goField) mayDefault() bool { return f.omitsZero && f.Kind() != reflect.Bool }

var jsonFieldsOf sync.Map // of reflect.Type to map[string]goField

// jsonFields returns the fields of a struct by their names in JSON.
func jsonFields(t reflect.Type) map[string]goField {
	if known, found := jsonFieldsOf.Load(t); found {
		return known.(map[string]goField)
	}
	fields := map[string]goField{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type.Kind()
		fields[name] = goField{f.Type, strings.Contains(options, "omit") && kind != reflect.Pointer && kind != reflect.Struct}
	}
	jsonFieldsOf.Store(t, fields)
	return fields
}

// isZero reports whether a scalar is the zero value of its type.
func isZero(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	}
	n, isNumber := toNumber(v)
	return isNumber && n == 0
}
