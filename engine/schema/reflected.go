package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltInType returns the type of the objects of a kind of Kubernetes itself;
// nil for kinds that it does not know. It is made at the first call for a kind.
func BuiltInType(gvk apischema.GroupVersionKind) *Type {
	reflectedTypes.Lock()
	defer reflectedTypes.Unlock()
	if t, known := reflectedTypes.roots[gvk]; known {
		return t
	}
	t := builtInType(gvk)
	reflectedTypes.roots[gvk] = t
	return t
}

// reflectedTypes remembers the types made of Go types.
var reflectedTypes = struct {
	sync.Mutex
	roots map[apischema.GroupVersionKind]*Type
}{roots: map[apischema.GroupVersionKind]*Type{}}

func builtInType(gvk apischema.GroupVersionKind) *Type {
	in, known := scheme.Scheme.AllKnownTypes()[gvk]
	switch {
	case gvk == apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"):
		in = reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]()
	case !known || gvk.Version == runtime.APIVersionInternal ||
		!reflect.PointerTo(in).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]()):
		return nil
	}
	t := *reflectType(in, nil)
	t.given = append([]string{"apiVersion", "kind", "metadata"}, t.given...)
	t.required = nil                // of metadata, apiVersion and kind the engine sees to
	t.fields = maps.Clone(t.fields) // other kinds may embed this one
	t.fields["metadata"] = liveMeta()
	return &t
}

// scalars are the Go types whose JSON is of another kind than their Go kind.
var scalars = map[reflect.Type]*Type{
	reflect.TypeFor[metav1.Time]():                     {kind: KindString, bounds: bounds{format: "date-time"}},
	reflect.TypeFor[metav1.MicroTime]():                {kind: KindString, bounds: bounds{format: "date-time"}},
	reflect.TypeFor[metav1.Duration]():                 {kind: KindString},
	reflect.TypeFor[metav1.FieldsV1]():                 Any,
	reflect.TypeFor[runtime.RawExtension]():            Any,
	reflect.TypeFor[intstr.IntOrString]():              {kind: KindIntOrString},
	reflect.TypeFor[resource.Quantity]():               {kind: KindString, bounds: bounds{format: FormatQuantity}},
	reflect.TypeFor[[]byte]():                          {kind: KindString, bounds: bounds{format: "byte"}},
	reflect.TypeFor[apiextensionsv1.JSON]():            Any,
	reflect.TypeFor[apiextensionsv1.JSONSchemaProps](): {kind: KindObject}, // holds itself
}

// structs remembers the types made of Go structs, which many kinds share.
var structs sync.Map

// reflectType returns the type of a Go type of the Kubernetes API, by its JSON tags. A struct
// within itself is Any.
func reflectType(in reflect.Type, within []reflect.Type) *Type {
	if t := scalars[in]; t != nil {
		return t
	}
	switch in.Kind() {
	case reflect.Pointer:
		return reflectType(in.Elem(), within)
	case reflect.String:
		return enumType(in)
	case reflect.Bool:
		return &Type{kind: KindBoolean}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &Type{kind: KindInteger}
	case reflect.Float64:
		return &Type{kind: KindNumber}
	case reflect.Map:
		return &Type{kind: KindFreeMap, elem: reflectType(in.Elem(), within)}
	case reflect.Slice:
		return &Type{kind: KindList, elem: reflectType(in.Elem(), within)}
	case reflect.Struct:
		if t, known := structs.Load(in); known {
			return t.(*Type)
		}
		if slices.Contains(within, in) {
			return Any
		}
		t, _ := structs.LoadOrStore(in, reflectedStruct(in, append(within[:len(within):len(within)], in)))
		return t.(*Type)
	}
	return Any
}

// reflectedStruct makes the type of a Go struct.
func reflectedStruct(in reflect.Type, within []reflect.Type) *Type {
	t := &Type{kind: KindObject, fields: map[string]*Type{}}
	for i := range in.NumField() {
		field := in.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name != "":
			t.fields[name] = reflectType(field.Type, within)
			t.addField(in, field)
		case field.Anonymous || strings.Contains(options, "inline"):
			t.inlineFields(reflectType(field.Type, within))
		}
	}
	if in == metaType {
		t.boundMeta()
	}
	t.unions = append(t.unions, unionsOf(in, t.fields)...)
	return t
}

// addField records whether a field must be given, and whether it is always there.
func (t *Type) addField(in reflect.Type, field reflect.StructField) {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	mayGo := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
	nilable := slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface}, field.Type.Kind())
	if !mayGo && !mayOmit(in, name) {
		t.required = append(t.required, name)
	}
	// A struct is never empty to the encoder, unless the tag says omitzero.
	struc := field.Type.Kind() == reflect.Struct && scalars[field.Type] == nil && !strings.Contains(options, "omitzero")
	if !nilable && (!mayGo || struc) {
		t.given = append(t.given, name)
	}
	slices.Sort(t.required)
	slices.Sort(t.given)
}

// inlineFields gives an object the fields of one that is inlined.
func (t *Type) inlineFields(inlined *Type) {
	maps.Copy(t.fields, inlined.fields)
	t.unions = append(t.unions, inlined.unions...)
	t.required = slices.Sorted(slices.Values(append(t.required, inlined.required...)))
	t.given = slices.Sorted(slices.Values(append(t.given, inlined.given...)))
}
