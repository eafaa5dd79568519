package ownership

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// unapplied are the fields of metadata that nobody can own: they identify an object, are
// preconditions, or are written by the server.
var unapplied = map[string]bool{
	"name": true, "namespace": true, "uid": true, "resourceVersion": true,
	"generation": true, "creationTimestamp": true, "managedFields": true, "selfLink": true,
}

// isIgnoredField reports whether the field name below path never counts. Nobody can own it,
// or it is the annotation with the revision that wrote the object, which is no content.
func isIgnoredField(path fieldpath.Path, name string) bool {
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

// isField reports whether a path element is the field with this name.
func isField(pe fieldpath.PathElement, name string) bool {
	return pe.FieldName != nil && *pe.FieldName == name
}

// fieldElement returns the path element of a map's key.
func fieldElement(name string) fieldpath.PathElement {
	return fieldpath.PathElement{FieldName: &name}
}

// formatPath returns a path as people write it: spec.ports[port=80,protocol=TCP].name
// and metadata.labels["example.com/app"]. Values of set lists are left out, since they
// may be secret.
func formatPath(path fieldpath.Path) string {
	var b strings.Builder
	for _, pe := range path {
		switch {
		case pe.FieldName != nil && needsNoQuotes(*pe.FieldName):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(*pe.FieldName)
		case pe.FieldName != nil:
			b.WriteString("[" + strconv.Quote(*pe.FieldName) + "]")
		case pe.Key != nil:
			b.WriteString("[" + formatKeys(*pe.Key) + "]")
		case pe.Index != nil:
			b.WriteString("[" + strconv.Itoa(*pe.Index) + "]")
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

// formatKeys returns the keys of a list item as port=80,protocol=TCP.
func formatKeys(keys value.FieldList) string {
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s=%v", k.Name, k.Value.Unstructured())
	}
	return strings.Join(parts, ",")
}

// needsNoQuotes reports whether a field name needs no quotes.
func needsNoQuotes(name string) bool {
	for _, r := range name {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return name != ""
}
