package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestMadeIsFresh: what is made of the chart is as the chart is now.
func TestMadeIsFresh(t *testing.T) {
	t.Parallel()
	files, err := makeFiles()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range files {
		if diff := cmp.Diff(string(want), string(read(t, file))); diff != "" {
			t.Errorf("%s is not what the chart makes of it: run make chart (-chart +file)\n%s", file, diff)
		}
	}
}

// TestSchemaKnowsValues: the schema and values.yaml have the same fields.
func TestSchemaKnowsValues(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	if err := json.Unmarshal(read(t, dir+"/values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	declared(schema, "", fields)
	delete(fields, "resources.claims")
	given := map[string]bool{}
	var doc map[string]any
	if err := yaml.Unmarshal(read(t, dir+"/values.yaml"), &doc); err != nil {
		t.Fatal(err)
	}
	present(doc, "", fields, given)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(given))); diff != "" {
		t.Errorf("(-values.schema.json +values.yaml):\n%s", diff)
	}
}

// declared collects the fields that a schema declares, each by its path.
func declared(schema map[string]any, prefix string, fields map[string]bool) {
	properties, _ := schema["properties"].(map[string]any)
	for name, sub := range properties {
		fields[prefix+name] = true
		if of, ok := sub.(map[string]any); ok {
			declared(of, prefix+name+".", fields)
		}
	}
}

// present collects the fields of values as deep as the schema knows them by
// name.
func present(values map[string]any, prefix string, known, given map[string]bool) {
	for name, value := range values {
		given[prefix+name] = true
		deeper := slices.ContainsFunc(slices.Collect(maps.Keys(known)), func(k string) bool { return strings.HasPrefix(k, prefix+name+".") })
		if sub, ok := value.(map[string]any); ok && deeper {
			present(sub, prefix+name+".", known, given)
		}
	}
}
