package schema

import (
	"maps"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Definition is the type of CustomResourceDefinitions as people write them. Other than
// BuiltInType it knows schemas, which hold themselves: do not walk it to its end.
var Definition = sync.OnceValue(func() *Type {
	root := *BuiltInType(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	spec := root.ownField("spec")
	spec.fields["scope"] = Either("Cluster", "Namespaced")
	version := spec.ownField("versions").ownElem()
	version.ownField("additionalPrinterColumns").ownElem().fields["type"] = Either("boolean", "date", "integer", "number", "string")
	version.ownField("schema").fields["openAPIV3Schema"] = schemaOfSchemas()
	return &root
})

// ownField returns a field of a type that may be changed: it is made a copy of its own.
func (t *Type) ownField(name string) *Type {
	t.fields = maps.Clone(t.fields)
	field := *t.fields[name]
	field.fields = maps.Clone(field.fields)
	t.fields[name] = &field
	return &field
}

// ownElem is own for the items of a list.
func (t *Type) ownElem() *Type {
	elem := *t.elem
	elem.fields = maps.Clone(elem.fields)
	t.elem = &elem
	return &elem
}

// schemaOfSchemas is the type of a schema, made of its Go type.
func schemaOfSchemas() *Type {
	in := reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()
	t := *reflectedStruct(in, nil)
	for i := range in.NumField() {
		field := in.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch of := field.Type; {
		case IsSchema(of):
			t.fields[name] = &t
		case of.Kind() == reflect.Slice && IsSchema(of.Elem()):
			t.fields[name] = ListOf(&t)
		case of.Kind() == reflect.Map && IsSchema(of.Elem()):
			t.fields[name] = MapOf(&t)
		}
	}
	t.fields["type"] = Either("array", "boolean", "integer", "number", "object", "string")
	t.fields["x-kubernetes-list-type"] = Either("atomic", "map", "set")
	t.fields["x-kubernetes-map-type"] = Either("atomic", "granular")
	return &t
}

// IsSchema reports whether a Go type is a schema in YAML, or may be one.
func IsSchema(in reflect.Type) bool {
	if in.Kind() == reflect.Pointer {
		in = in.Elem()
	}
	switch in {
	case reflect.TypeFor[apiextensionsv1.JSONSchemaProps](), reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray](),
		reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():
		return true
	}
	return false
}
