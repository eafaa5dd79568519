package lsp

import (
	_ "embed"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// builtInNote is what Kubernetes says of a field of one of its own kinds; "" if it says
// nothing, or there is no such field. Items of lists and values of maps are any step.
func builtInNote(gvk apischema.GroupVersionKind, path []string) string {
	in, known := scheme.Scheme.AllKnownTypes()[gvk]
	if gvk == definitionKind {
		in, known = reflect.TypeFor[apiextensionsv1.CustomResourceDefinition](), true
	}
	note := ""
	for _, step := range path {
		for known && in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		if known && schema.IsSchema(in) {
			in = reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()
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
		in, note, known = findFieldNote(in, step)
	}
	return note
}

// definitionKind is that of CRDs, whose Go types are in definitionPackage.
var (
	definitionKind    = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")
	definitionPackage = reflect.TypeFor[apiextensionsv1.CustomResourceDefinition]().PkgPath()
)

// findFieldNote is the type of a field of a struct, by its name in JSON, and what is said of it.
func findFieldNote(in reflect.Type, name string) (of reflect.Type, note string, found bool) {
	for i := range in.NumField() {
		field := in.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == name && name != "":
			note = definitionNotes()[in.Name()+"."+name]
			if in.PkgPath() != definitionPackage {
				note = ""
			}
			if doc, ok := reflect.New(in).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
				note = doc.SwaggerDoc()[name]
			}
			return field.Type, note, true
		case tag == "" && (field.Anonymous || strings.Contains(options, "inline")) && field.Type.Kind() == reflect.Struct:
			if of, note, found = findFieldNote(field.Type, name); found {
				return of, note, true
			}
		}
	}
	return nil, "", false
}

// definitionNotesText is what the comments of the Go types of CRDs say of their fields:
// Type.field and the text, parted by a tab. These types have no SwaggerDoc. A test writes it.
//
//go:embed definition.txt
var definitionNotesText string

var definitionNotes = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(definitionNotesText) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all[name] = text
	}
	return all
})
