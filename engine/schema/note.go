package schema

import (
	"reflect"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// BuiltInNote is what Kubernetes says of a field of one of its own kinds; "" if it says
// nothing, or there is no such field. Items of lists and values of maps are any step.
func BuiltInNote(gvk apischema.GroupVersionKind, path []string) string {
	in, known := scheme.Scheme.AllKnownTypes()[gvk]
	note := ""
	for _, step := range path {
		for known && in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		switch {
		case !known:
			return ""
		case in.Kind() == reflect.Slice || in.Kind() == reflect.Map:
			in, note = in.Elem(), ""
			continue
		case in.Kind() != reflect.Struct:
			return ""
		}
		in, note, known = fieldNote(in, step)
	}
	return note
}

// fieldNote is the type of a field of a struct, by its name in JSON, and what is said of it.
func fieldNote(in reflect.Type, name string) (of reflect.Type, note string, found bool) {
	for i := range in.NumField() {
		field := in.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == name && name != "":
			if doc, ok := reflect.New(in).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
				note = doc.SwaggerDoc()[name]
			}
			return field.Type, note, true
		case tag == "" && (field.Anonymous || strings.Contains(options, "inline")) && field.Type.Kind() == reflect.Struct:
			if of, note, found = fieldNote(field.Type, name); found {
				return of, note, true
			}
		}
	}
	return nil, "", false
}
