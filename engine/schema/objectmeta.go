package schema

import (
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ObjectMeta returns the type of metadata: name, namespace, uid, labels and all
// other fields that Kubernetes keeps about every object.
func ObjectMeta() *Type { return objectMeta() }

var objectMeta = sync.OnceValue(func() *Type { return reflected(reflect.TypeFor[metav1.ObjectMeta]()) })

// Shown are the fields of a resource's metadata that a template sees. The rest
// belongs to the cluster, and changes without the resource's author.
var Shown = []string{"name", "namespace", "uid", "generation", "labels", "annotations"}

// shownMeta is ObjectMeta as far as a template sees it.
var shownMeta = sync.OnceValue(func() *Type {
	t := &Type{kind: KindObject, fields: map[string]*Type{}}
	for _, name := range Shown {
		t.fields[name] = ObjectMeta().fields[name]
	}
	return t
})

// scalars are the Go types whose JSON is of another kind than their Go kind.
var scalars = map[reflect.Type]*Type{
	reflect.TypeFor[metav1.Time]():      {kind: KindString},
	reflect.TypeFor[metav1.MicroTime](): {kind: KindString},
	reflect.TypeFor[metav1.FieldsV1]():  Any,
}

// reflected makes the type of a Go type of the Kubernetes API, by its JSON tags.
func reflected(in reflect.Type) *Type {
	if t, found := scalars[in]; found {
		return t
	}
	switch in.Kind() {
	case reflect.Pointer:
		return reflected(in.Elem())
	case reflect.String:
		return &Type{kind: KindString}
	case reflect.Bool:
		return &Type{kind: KindBoolean}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &Type{kind: KindInteger}
	case reflect.Map:
		return &Type{kind: KindFreeMap, elem: reflected(in.Elem())}
	case reflect.Slice:
		return &Type{kind: KindList, elem: reflected(in.Elem())}
	case reflect.Struct:
		return &Type{kind: KindObject, fields: reflectedFields(in)}
	}
	return Any
}

// reflectedFields makes the fields of a Go struct.
func reflectedFields(in reflect.Type) map[string]*Type {
	fields := map[string]*Type{}
	for i := range in.NumField() {
		name, _, _ := strings.Cut(in.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields[name] = reflected(in.Field(i).Type)
		}
	}
	return fields
}
