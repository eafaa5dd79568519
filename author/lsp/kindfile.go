package lsp

import (
	_ "embed" // of the schema
	"encoding/json"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// kindSchema is docs/kind.schema.json, which a test writes.
//
//go:embed kind.schema.json
var kindSchema []byte

// kindType is the type of kind.yaml; schema.Any if the schema cannot be read, which a test
// rules out.
var kindType = sync.OnceValue(func() *schema.Type {
	var written map[string]any
	if json.Unmarshal(kindSchema, &written) != nil {
		return schema.Any
	}
	data, err := json.Marshal(inCRDWords(written))
	if err != nil {
		return schema.Any
	}
	var props apiextensionsv1.JSONSchemaProps
	if json.Unmarshal(data, &props) != nil {
		return schema.Any
	}
	// A definition with the schema below spec is what makes types of schemas.
	root := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": props}}
	crd, err := schema.FromObject(&apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root}}}}})
	if err != nil {
		return schema.Any
	}
	spec, _ := schema.Root(crd.Versions[0]).Field("spec")
	return spec
})

// inCRDWords is a JSON Schema in the words that schemas of CRDs have: a const is an enum
// of one, and of several forms the one counts that has more to complete.
func inCRDWords(s map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"type", "description", "enum"} {
		if value, said := s[key]; said {
			out[key] = value
		}
	}
	if value, said := s["const"]; said {
		out["enum"] = []any{value}
	}
	if forms, several := s["anyOf"].([]any); several {
		best := slices.MaxFunc(forms, func(a, b any) int { return completionRank(a) - completionRank(b) })
		form := inCRDWords(best.(map[string]any))
		if form["type"] == nil {
			form["type"] = "string"
		}
		for key, value := range out {
			form[key] = value
		}
		return form
	}
	if fields, object := s["properties"].(map[string]any); object {
		with := map[string]any{}
		for name, field := range fields {
			if of := field.(map[string]any); of["deprecated"] != true {
				with[name] = inCRDWords(of)
			}
		}
		out["properties"] = with
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if of, below := s[key].(map[string]any); below {
			out[key] = inCRDWords(of)
		}
	}
	if required, said := s["required"]; said {
		out["required"] = required
	}
	return out
}

// completionRank ranks a form by how much there is to complete in it.
func completionRank(form any) int {
	of, _ := form.(map[string]any)
	switch {
	case of["properties"] != nil:
		return 2
	case of["enum"] != nil:
		return 1
	}
	return 0
}

// isKindFile reports whether a file in a root is the kind.yaml of a folder.
func isKindFile(inside string) bool {
	return strings.HasPrefix(inside, "templates/") && strings.Count(inside, "/") == 2 && strings.HasSuffix(inside, "/kind.yaml")
}
