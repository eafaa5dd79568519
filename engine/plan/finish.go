package plan

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// Document makes what is applied of a rendered child: with the engine's
// labels, annotations and owner reference, and the hash of it all. The fields
// that are only set initially stand as they are rendered if there is no live
// object; otherwise with their live value while we hold them, so that nothing
// changes them, and else not at all. They do not count in the hash. The hash of
// a Job made once is that of what was rendered alone.
func Document(owner Owner, c render.Child, current *live.Object) (*unstructured.Unstructured, string, error) {
	doc := &unstructured.Unstructured{Object: copyMap(c.Object.Object)}
	meta := copyMap(doc.Object["metadata"])
	doc.Object["metadata"] = meta
	labels, annotations := copyMap(meta["labels"]), copyMap(meta["annotations"])
	meta["labels"], meta["annotations"] = labels, annotations
	labels[api.LabelOwnerUID] = string(owner.UID)
	annotations[api.AnnotationOwner] = owner.String()
	annotations[api.AnnotationFile] = c.File
	if c.Drawn {
		annotations[api.AnnotationDrawn] = "true"
	}
	if c.Policy.OnDelete != "keep" && hasReference(owner, c.Object.GetNamespace()) {
		meta["ownerReferences"] = []any{map[string]any{
			"apiVersion": owner.GVK.GroupVersion().String(), "kind": owner.GVK.Kind,
			"name": owner.Name, "uid": string(owner.UID), "controller": true, "blockOwnerDeletion": true,
		}}
	}
	if err := encodeStringData(doc.Object); err != nil {
		return nil, "", fmt.Errorf("planning %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	first := cutInitial(doc.Object, c.Policy.Initial)
	hashed := doc.Object
	if c.Policy.Once { // for each content, whoever's it is
		hashed = c.Object.Object
	}
	hash, err := ownership.Hash(hashed)
	if err != nil {
		return nil, "", fmt.Errorf("planning %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	annotations[api.AnnotationDesired] = hash
	if owner.Revision != "" {
		annotations[api.AnnotationWrittenBy] = owner.Revision
	}
	if current != nil && len(c.Policy.Initial) > 0 {
		first = heldInitial(c.Policy.Initial, current)
	}
	for _, f := range first {
		setField(doc.Object, f.path, f.value)
	}
	return doc, hash, nil
}

// A field is a path and its value.
type field struct {
	path  []string
	value any
}

// Successor returns the document of a child that is created again, with the values that the
// object before it had in fields that are only set initially. Without a body it is the
// document itself.
func Successor(doc *unstructured.Unstructured, c render.Child, body map[string]any) *unstructured.Unstructured {
	for _, path := range c.Policy.Initial {
		_, rendered, _ := unstructured.NestedFieldNoCopy(c.Object.Object, path...)
		v, found, err := unstructured.NestedFieldNoCopy(body, path...)
		if rendered && found && err == nil {
			doc = &unstructured.Unstructured{Object: copyMap(doc.Object)}
			setField(doc.Object, path, v)
		}
	}
	return doc
}

// cutInitial takes the fields off a document of which only the first level is
// its own, and returns those that were there.
func cutInitial(doc map[string]any, paths [][]string) []field {
	var cut []field
	for _, path := range paths {
		v, found, err := unstructured.NestedFieldNoCopy(doc, path...)
		if !found || err != nil {
			continue
		}
		cut = append(cut, field{path, v})
		at := doc
		for _, name := range path[:len(path)-1] {
			below := copyMap(at[name])
			at[name], at = below, below
		}
		delete(at, path[len(path)-1])
	}
	return cut
}

// heldInitial are the live values of the fields that our entry holds still: to
// leave them out would drop them.
func heldInitial(paths [][]string, current *live.Object) []field {
	entry, found, err := ownership.Ours(current.Meta.GetManagedFields(), api.FieldManager)
	if !found || err != nil {
		return nil
	}
	var held []field
	for _, path := range paths {
		if v, there, err := unstructured.NestedFieldNoCopy(current.Body, path...); entry.Reaches(path...) && there && err == nil {
			held = append(held, field{path, v})
		}
	}
	return held
}

// setField puts a value into a document of which every map on the way is its own.
func setField(doc map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		below := copyMap(doc[name])
		doc[name], doc = below, below
	}
	doc[path[len(path)-1]] = v
}

// copyMap copies a map one level deep; nil becomes an empty map.
func copyMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	out := make(map[string]any, len(m)+4)
	for key, value := range m {
		out[key] = value
	}
	return out
}

// encodeStringData turns a Secret's stringData into data: stringData is not
// kept by the server, so nobody could own it.
func encodeStringData(o map[string]any) error {
	if o["kind"] != "Secret" || o["apiVersion"] != "v1" || o["stringData"] == nil {
		return nil
	}
	texts, ok := o["stringData"].(map[string]any)
	if !ok {
		return fmt.Errorf("stringData must be a map of texts")
	}
	data := copyMap(o["data"])
	for key, v := range texts {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("stringData.%s must be a text", key)
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	o["data"] = data
	delete(o, "stringData")
	return nil
}
