package crdfile

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// schemaFields are the words of a schema.
var schemaFields = slices.Sorted(maps.Keys(reflectedNames(reflect.TypeFor[apiextensionsv1.JSONSchemaProps]())))

// reflectedNames returns the JSON names of a Go struct's fields.
func reflectedNames(in reflect.Type) map[string]bool {
	names := map[string]bool{}
	for i := range in.NumField() {
		name, _, _ := strings.Cut(in.Field(i).Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}

// unknownSchemaFields finds words in schemas that mean nothing. Decoding does not
// find them below items and additionalProperties, and names no line.
func (d *document) unknownSchemaFields() Errors {
	var errs Errors
	_, spec := findEntry(d.root, "spec")
	_, versions := findEntry(spec, "versions")
	if versions == nil {
		return nil
	}
	for i, version := range versions.Content {
		_, holder := findEntry(version, "schema")
		_, top := findEntry(holder, "openAPIV3Schema")
		errs = append(errs, d.walkSchema(top, fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", i))...)
	}
	return errs
}

// walkSchema checks the schema at node and those below it. An alias is not
// followed: its anchor is checked where it stands.
func (d *document) walkSchema(node *yaml.Node, path string) Errors {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	var errs Errors
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		below := path + "." + key.Value
		switch key.Value {
		case "properties", "patternProperties", "definitions", "dependencies":
			for j := 0; value.Kind == yaml.MappingNode && j+1 < len(value.Content); j += 2 {
				errs = append(errs, d.walkSchema(value.Content[j+1], below+"."+value.Content[j].Value)...)
			}
		case "items", "additionalProperties", "additionalItems", "not":
			errs = append(errs, d.walkSchema(value, below)...)
		case "allOf", "anyOf", "oneOf":
			for j, item := range value.Content {
				errs = append(errs, d.walkSchema(item, fmt.Sprintf("%s[%d]", below, j))...)
			}
		case "<<":
			errs = append(errs, d.walkSchema(value, path)...)
		default:
			if !slices.Contains(schemaFields, key.Value) {
				errs = append(errs, d.unknownField(key, below))
			}
		}
	}
	return errs
}

// unknownField makes the finding of a word that means nothing.
func (d *document) unknownField(key *yaml.Node, path string) *Finding {
	text := "unknown field"
	if near := schema.Suggest(key.Value, schemaFields); near != "" {
		text += fmt.Sprintf(", did you mean %s?", near)
	}
	return &Finding{File: d.file, Line: key.Line, Column: key.Column, Field: path, Text: text}
}

// findEntry returns the key and value of a map's entry, nil if there is none.
func findEntry(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}
