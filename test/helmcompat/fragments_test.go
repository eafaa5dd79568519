package helmcompat

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// A fragment is one piece of template text, with what it is rendered for.
type fragment struct {
	name     string // <group>/<name>
	template string
	partials string
	resource map[string]any
}

// A group is a file of testdata.
type group struct {
	// Spec is set beside the spec of resource.yaml.
	Spec map[string]any `json:"spec"`
	// Partials are defined beside those of _helpers.tpl.
	Partials  string            `json:"partials"`
	Fragments map[string]string `json:"fragments"`
}

// A difference is what our engine does with a fragment instead of what Helm does.
type difference struct {
	Reason string `json:"reason"`
	// Want is the documents that ours makes, as YAML.
	Want string `json:"want"`
	// Error is a part of our error's text; it excludes Want.
	Error string `json:"error"`
}

// loadFragments reads all groups of testdata.
func loadFragments(t *testing.T) []fragment {
	t.Helper()
	partials := string(read(t, "testdata/_helpers.tpl"))
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []fragment
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "resource" || name == "differences" {
			continue
		}
		var g group
		unmarshal(t, file, &g)
		for key, text := range g.Fragments {
			all = append(all, fragment{
				name: name + "/" + key, template: text, partials: partials + g.Partials,
				resource: loadResource(t, file),
			})
		}
	}
	return all
}

// loadResource reads resource.yaml again, with the spec of a group set into it:
// templates of Helm may change what they are given.
func loadResource(t *testing.T, group string) map[string]any {
	t.Helper()
	resource := object(t, read(t, "testdata/resource.yaml"))
	extra, _ := object(t, read(t, group))["spec"].(map[string]any)
	maps.Copy(resource["spec"].(map[string]any), extra)
	return resource
}

func loadDifferences(t *testing.T) map[string]difference {
	t.Helper()
	differences := map[string]difference{}
	unmarshal(t, "testdata/differences.yaml", &differences)
	return differences
}

// documents parses YAML documents into comparable ones.
func documents(text string) ([]any, error) {
	docs := []any{}
	for i, part := range bytes.Split([]byte("\n"+text), []byte("\n---")) {
		raw, err := yaml.YAMLToJSONStrict(part)
		if err != nil {
			return nil, fmt.Errorf("parsing document %d: %w", i, err)
		}
		var doc any
		if err := utiljson.Unmarshal(raw, &doc); err != nil {
			return nil, fmt.Errorf("decoding document %d: %w", i, err)
		}
		if doc = withoutAbsent(doc); doc != nil {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// withoutAbsent leaves out keys without a value, and maps that lost all their
// keys by that, as our language does: what is left of them would be null to
// the API server, which drops it too.
func withoutAbsent(v any) any {
	switch v := v.(type) {
	case map[string]any:
		had := len(v)
		for key, value := range v {
			if v[key] = withoutAbsent(value); v[key] == nil {
				delete(v, key)
			}
		}
		if had > 0 && len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutAbsent(v[i])
		}
	}
	return v
}

func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := utiljson.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func unmarshal(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(read(t, file), into); err != nil {
		t.Fatalf("parsing %s: %v", file, err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
