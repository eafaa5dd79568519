// Package jsonschema turns the schema of a CRD into a JSON Schema of draft 7,
// as editors and their YAML language servers read it. It is pure.
//
// The formats are https://json-schema.org/draft-07 and the structural schemas
// of https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/.
//
// Without it, users lose completion in editors.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// draft says which JSON Schema it is.
const draft = "http://json-schema.org/draft-07/schema#"

// A Schema is the JSON Schema of one version of a CRD.
type Schema struct {
	// Path is where people look for it: <group>/<kind>_<version>.json, the
	// kind in small letters.
	Path string
	// APIVersion and Kind are those of the resources.
	APIVersion, Kind string
	Data             []byte
}

// Of returns the schemas of a CRD's served versions.
func Of(crd *schema.CRD) ([]Schema, error) {
	var all []Schema
	for _, v := range crd.Object.Spec.Versions {
		if !v.Served || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		s := Schema{
			Path:       path.Join(crd.Group, strings.ToLower(crd.Kind)+"_"+v.Name+".json"),
			APIVersion: crd.Group + "/" + v.Name,
			Kind:       crd.Kind,
		}
		root := resourceSchema(v.Schema.OpenAPIV3Schema, s)
		root["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": crd.Group, "kind": crd.Kind, "version": v.Name}}
		var err error
		if s.Data, err = printJSON(root); err != nil {
			return nil, fmt.Errorf("printing the schema of %s %s: %w", s.APIVersion, s.Kind, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// resourceSchema returns the schema of a resource.
func resourceSchema(p *apiextensionsv1.JSONSchemaProps, s Schema) map[string]any {
	root := strictSchema(p)
	fields, _ := root["properties"].(map[string]any)
	if fields == nil {
		fields = map[string]any{}
		root["properties"] = fields
	}
	fields["apiVersion"] = map[string]any{"type": "string", "const": s.APIVersion, "description": "The group and version of the API."}
	fields["kind"] = map[string]any{"type": "string", "const": s.Kind, "description": "The kind of the resource."}
	meta := metadataSchema()
	if given, said := p.Properties["metadata"]; said {
		inner := strictSchema(&given)
		delete(inner, "additionalProperties")
		if declared, _ := inner["properties"].(map[string]any); declared != nil {
			for name, field := range meta["properties"].(map[string]any) {
				if declared[name] == nil {
					declared[name] = field
				}
			}
			meta = inner
		}
	}
	fields["metadata"] = meta
	required, _ := root["required"].([]any)
	for _, name := range []any{"apiVersion", "kind", "metadata"} {
		if !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	root["$schema"], root["title"], root["required"] = draft, s.Kind+" "+s.APIVersion, required
	if root["additionalProperties"] == nil && p.XPreserveUnknownFields == nil {
		root["additionalProperties"] = false
	}
	return root
}

// metadataSchema returns the schema of what people write about an object.
func metadataSchema() map[string]any {
	texts := func(note string) map[string]any {
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": note}
	}
	text := func(note string) map[string]any { return map[string]any{"type": "string", "description": note} }
	return map[string]any{"type": "object", "description": "What the object is called, and what is said about it.",
		"properties": map[string]any{
			"name": text("The name, unique in the namespace."), "generateName": text("What a name begins with that the API server makes up."),
			"namespace": text("The namespace."), "labels": texts("Labels, by which objects are selected."), "annotations": texts("Annotations."),
		}}
}

// All is a schema for files that hold resources of any of some schemas: each is
// checked by the one for its apiVersion and kind, and others are not.
func All(schemas []Schema) ([]byte, error) {
	choices := []any{}
	for _, s := range schemas {
		is := map[string]any{"apiVersion": map[string]any{"const": s.APIVersion}, "kind": map[string]any{"const": s.Kind}}
		choices = append(choices, map[string]any{
			"if":   map[string]any{"required": []any{"apiVersion", "kind"}, "properties": is},
			"then": map[string]any{"$ref": s.Path},
		})
	}
	root := map[string]any{"$schema": draft, "type": "object"}
	if len(choices) > 0 {
		root["allOf"] = choices
	}
	return printJSON(root)
}

// printJSON prints a value as indented JSON.
func printJSON(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return append(data, '\n'), err
}
