package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"
)

// TestFragments converts every fragment that the comparison with Helm's engine
// has, and checks that what comes of it can be read.
func TestFragments(t *testing.T) {
	files, err := filepath.Glob("../../test/helmcompat/testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var group struct {
			Partials  string            `json:"partials"`
			Fragments map[string]string `json:"fragments"`
		}
		if yaml.Unmarshal(data, &group) != nil {
			continue // differences.yaml is no group
		}
		for name, text := range group.Fragments {
			text = strings.ReplaceAll(text, ".spec", ".Values")
			tried++
			made, err := Convert(fstest.MapFS{
				"Chart.yaml":             {Data: []byte("name: shop\nversion: 1.0.0\n")},
				"values.yaml":            {Data: []byte("a: 1\n")},
				"templates/_helpers.tpl": {Data: []byte(group.Partials)},
				"templates/a.yaml":       {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + text)},
			}, shop)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
				continue
			}
			for _, n := range made.Notes {
				if strings.Contains(n.What, "cannot be read") {
					t.Errorf("%s: %s", name, n)
				}
			}
		}
	}
	if tried < 400 {
		t.Errorf("only %d fragments: this test looks in the wrong place", tried)
	}
}
