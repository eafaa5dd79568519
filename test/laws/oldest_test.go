package laws

import (
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/author/crdfile"
)

// TestOldServersTakeCRDs: API servers before 1.34 estimate the cost of a rule as
// if an x-kubernetes-int-or-string had no maxLength, and refuse a CRD whose rules
// may cost too much (kubernetes/kubernetes#132837). So its rules must be cheap
// without it.
func TestOldServersTakeCRDs(t *testing.T) {
	found := 0
	for _, root := range append(roots(t), "examples/embedded") {
		files, err := filepath.Glob(root + "/crds/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			var crd any
			if err := yaml.Unmarshal(read(t, file), &crd); err != nil {
				t.Fatal(err)
			}
			found += unbound(crd)
			data, err := yaml.Marshal(crd)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := crdfile.Parse(file, data); err != nil {
				t.Errorf("an API server before 1.34 would refuse this: %v", err)
			}
		}
	}
	if found == 0 {
		t.Error("no CRD has an x-kubernetes-int-or-string with maxLength: this test looks in the wrong place")
	}
}

// unbound takes every maxLength off the values that may be a number or a string,
// and counts them.
func unbound(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		if _, has := v["maxLength"]; has && v["x-kubernetes-int-or-string"] == true {
			delete(v, "maxLength")
			n++
		}
		for _, inner := range v {
			n += unbound(inner)
		}
	case []any:
		for _, inner := range v {
			n += unbound(inner)
		}
	}
	return n
}
