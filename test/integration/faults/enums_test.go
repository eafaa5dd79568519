package faults

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/jacquard-operator/jacquard/engine/schema"
)

// TestEnumerations: the texts that lint takes for a field of a built-in kind are those
// that the API server names.
func TestEnumerations(t *testing.T) {
	t.Parallel()
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
		if !strings.HasPrefix(path, "api") {
			continue // such as version
		}
		all, err := schemasAt(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if len(d.Kinds) != 1 {
				continue // of metav1, which belongs to all
			}
			gvk := apischema.GroupVersionKind{Group: d.Kinds[0].Group, Version: d.Kinds[0].Version, Kind: d.Kinds[0].Kind}
			if ours := schema.BuiltInType(gvk); ours != nil && schema.BuiltIn(gvk) {
				compared += compareEnums(t, all, gvk.GroupVersion().String()+" "+gvk.Kind, d, ours)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d enumerations found: this test looks in the wrong place", compared)
	}
}

// compareEnums compares the enumerations of a type and of what is below it, and returns
// how many there are. A type that contains itself is followed once.
func compareEnums(t *testing.T, all map[string]*openAPI, place string, theirs *openAPI, ours *schema.Type) (compared int) {
	t.Helper()
	var follow func(place string, theirs *openAPI, ours *schema.Type, within []string)
	follow = func(place string, theirs *openAPI, ours *schema.Type, within []string) {
		if len(theirs.AllOf) == 1 {
			theirs = &openAPI{Ref: theirs.AllOf[0].Ref, Enum: theirs.Enum}
		}
		if ref := theirs.Ref; ref != "" {
			name := ref[strings.LastIndexByte(ref, '/')+1:]
			if !slices.Contains(within, name) && all[name] != nil {
				follow(place, all[name], ours, append(within[:len(within):len(within)], name))
			}
			return
		}
		if words := sorted(theirs.Enum); words != sorted(ours.Enum()) {
			t.Errorf("%s: lint takes %s, the API server %s", place, sorted(ours.Enum()), words)
		} else if words != "[]" {
			compared++
		}
		if theirs.Items != nil && ours.Elem() != nil {
			follow(place+"[]", theirs.Items, ours.Elem(), within)
		}
		for name, field := range theirs.Properties {
			if of, found := ours.Field(name); found {
				follow(place+"."+name, field, of, within)
			}
		}
	}
	follow(place, theirs, ours, nil)
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
