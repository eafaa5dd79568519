package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// A definition is a part of the OpenAPI of the API server.
type definition struct {
	Ref        string                                  `json:"$ref"`
	AllOf      []definition                            `json:"allOf"`
	Properties map[string]*definition                  `json:"properties"`
	Items      *definition                             `json:"items"`
	Enum       []any                                   `json:"enum"`
	Kinds      []struct{ Group, Version, Kind string } `json:"x-kubernetes-group-version-kind"`
}

// openAPI is the OpenAPI of one group and version.
type openAPI struct {
	Components struct {
		Schemas map[string]*definition `json:"schemas"`
	} `json:"components"`
}

// TestEnumerations: the texts that lint takes for a field of a built-in kind are those
// that the API server names.
func TestEnumerations(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for path := range paths {
		text, err := client.RESTClient().Get().AbsPath("/openapi/v3/" + path).DoRaw(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var doc openAPI
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for _, d := range doc.Components.Schemas {
			if len(d.Kinds) != 1 {
				continue // of metav1, which belongs to all
			}
			gvk := apischema.GroupVersionKind{Group: d.Kinds[0].Group, Version: d.Kinds[0].Version, Kind: d.Kinds[0].Kind}
			if ours := schema.BuiltInType(gvk); ours != nil && schema.BuiltIn(gvk) {
				compared += doc.compare(t, gvk.GroupVersion().String()+" "+gvk.Kind, d, ours, nil)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d enumerations found: this test looks in the wrong place", compared)
	}
}

// compare compares the enumerations of a type and of what is below it, and returns how
// many there are. within are the references that led here.
func (o openAPI) compare(t *testing.T, place string, theirs *definition, ours *schema.Type, within []string) (compared int) {
	t.Helper()
	if len(theirs.AllOf) == 1 {
		theirs = &definition{Ref: theirs.AllOf[0].Ref, Enum: theirs.Enum}
	}
	if ref := theirs.Ref; ref != "" {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		if slices.Contains(within, name) || o.Components.Schemas[name] == nil {
			return 0
		}
		return o.compare(t, place, o.Components.Schemas[name], ours, append(within[:len(within):len(within)], name))
	}
	if words := sorted(theirs.Enum); words != sorted(ours.Enum()) {
		t.Errorf("%s: lint takes %s, the API server %s", place, sorted(ours.Enum()), words)
	} else if words != "[]" {
		compared++
	}
	if theirs.Items != nil && ours.Elem() != nil {
		compared += o.compare(t, place+"[]", theirs.Items, ours.Elem(), within)
	}
	for name, field := range theirs.Properties {
		if of, found := ours.Field(name); found {
			compared += o.compare(t, place+"."+name, field, of, within)
		}
	}
	return compared
}

func sorted(words []any) string {
	texts := []string{}
	for _, word := range words {
		texts = append(texts, fmt.Sprintf("%q", word))
	}
	slices.Sort(texts)
	return fmt.Sprint(texts)
}
