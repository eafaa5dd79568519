package plan

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/own"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// finish makes what is applied of a rendered child: with the engine's labels,
// annotations and owner reference, and the hash of it all.
func finish(owner Owner, c render.Child) (*unstructured.Unstructured, string, error) {
	doc := &unstructured.Unstructured{Object: shallow(c.Object.Object)}
	meta := shallow(doc.Object["metadata"])
	doc.Object["metadata"] = meta
	labels, annotations := shallow(meta["labels"]), shallow(meta["annotations"])
	meta["labels"], meta["annotations"] = labels, annotations
	labels[api.LabelOwnerUID] = string(owner.UID)
	annotations[api.AnnotationOwner] = owner.String()
	annotations[api.AnnotationFile] = c.File
	meta["ownerReferences"] = []any{map[string]any{
		"apiVersion": owner.GVK.GroupVersion().String(), "kind": owner.GVK.Kind,
		"name": owner.Name, "uid": string(owner.UID), "controller": true, "blockOwnerDeletion": true,
	}}
	if err := encodeStringData(doc.Object); err != nil {
		return nil, "", fmt.Errorf("planning %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	hash, err := own.Hash(doc.Object)
	if err != nil {
		return nil, "", fmt.Errorf("planning %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	annotations[api.AnnotationDesired] = hash
	return doc, hash, nil
}

// shallow copies a map one level deep; nil becomes an empty map.
func shallow(v any) map[string]any {
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
	data := shallow(o["data"])
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
