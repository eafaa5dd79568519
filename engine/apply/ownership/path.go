package ownership

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// unapplied are the fields of metadata that identify an object, are
// preconditions, or that the server never records an owner of.
var unapplied = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true,
	"generation": true, "creationTimestamp": true, "managedFields": true, "selfLink": true,
}

// skipped reports whether the field name below path never counts: it cannot be owned, or it
// is the annotation with the revision that wrote the object, which is no part of its content.
func skipped(path fieldpath.Path, name string) bool {
	switch len(path) {
	case 0:
		return name == "apiVersion" || name == "kind"
	case 1:
		return isField(path[0], "metadata") && unapplied[name]
	case 2:
		return name == api.AnnotationWrittenBy && isField(path[0], "metadata") && isField(path[1], "annotations")
	}
	return false
}

func isField(pe fieldpath.PathElement, name string) bool {
	return pe.FieldName != nil && *pe.FieldName == name
}

// field is the path element of a map's key.
func field(name string) fieldpath.PathElement {
	return fieldpath.PathElement{FieldName: &name}
}

// show prints a path as people write it: spec.ports[port=80,protocol=TCP].name
// and metadata.labels["example.com/app"]. The values of set lists are left
// out: they may be secret, keys are not.
func show(path fieldpath.Path) string {
	var b strings.Builder
	for _, pe := range path {
		switch {
		case pe.FieldName != nil && plain(*pe.FieldName):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(*pe.FieldName)
		case pe.FieldName != nil:
			b.WriteString("[" + strconv.Quote(*pe.FieldName) + "]")
		case pe.Key != nil:
			b.WriteString("[" + showKeys(*pe.Key) + "]")
		case pe.Index != nil:
			b.WriteString("[" + strconv.Itoa(*pe.Index) + "]")
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

func showKeys(keys value.FieldList) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s=%v", k.Name, k.Value.Unstructured())
	}
	return strings.Join(parts, ",")
}

// plain reports whether a field name needs no quotes.
func plain(name string) bool {
	for _, r := range name {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return name != ""
}
