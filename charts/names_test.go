package main

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// TestVersionsAreLabels: whatever versions a tool gives the chart and the operator, every
// label is one that the API server accepts.
func TestVersionsAreLabels(t *testing.T) {
	t.Parallel()
	for _, r := range []release{
		{version: "0.1.0+0123456789ab", app: "v0.1.0+sha.abc"},
		{version: "0.1.0-" + strings.Repeat("a", 47) + "+abc", app: "v" + strings.Repeat("1", 80)},
		{version: "0.1.0-" + strings.Repeat("a", 45) + "---x", app: "v0.1.0-" + strings.Repeat("a", 55) + "..b"},
	} {
		r.name, r.namespace, r.values = "jacquard", "jacquard", samples(t)
		objects, err := render(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			for key, value := range o.GetLabels() {
				if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
					t.Errorf("chart %s of %s: %s: label %s: %q: %v", r.version, r.app, title(o), key, value, wrong)
				}
			}
		}
		image := deployed(t, objects).Containers[0].Image
		if tag := image[strings.LastIndex(image, ":")+1:]; !regexp.MustCompile(`^[\w][\w.-]{0,127}$`).MatchString(tag) {
			t.Errorf("the operator %s has the tag %s", r.app, tag)
		}
	}
}

// TestNamesOfReleases: whatever name a release has, the names of its objects are valid.
func TestNamesOfReleases(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"j", "1x", "a.b", "1.2", "jacquard.two", strings.Repeat("r", 53), strings.Repeat("r", 51) + ".r"} {
		objects, err := render(release{name: name, namespace: "jacquard"})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			wrong := validation.IsDNS1123Subdomain(strings.ReplaceAll(o.GetName(), ":", "-"))
			if o.GetKind() == "Service" {
				wrong = validation.IsDNS1035Label(o.GetName())
			}
			if len(wrong) > 0 {
				t.Errorf("release %s: %s: %v", name, title(o), wrong)
			}
			for key, value := range o.GetLabels() {
				if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
					t.Errorf("release %s: %s: label %s: %v", name, title(o), key, wrong)
				}
			}
		}
	}
}

// TestNulls: null of a map or a list removes its defaults; every other null is refused by
// the schema, and none ends in an error of a template.
func TestNulls(t *testing.T) {
	t.Parallel()
	defaults := map[string]any{}
	if err := yaml.Unmarshal(read(t, dir+"/values.yaml"), &defaults); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, path := range paths(nil, defaults) {
		given := samples(t)
		on := values(t, "{metrics: {serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}, dashboard: {enabled: true}}, networkPolicy: {enabled: true}, flowControl: {enabled: true}}")
		maps.Copy(given, on)
		if err := unstructured.SetNestedField(given, nil, path...); err != nil {
			t.Fatal(err)
		}
		tried++
		objects, err := render(release{name: "jacquard", namespace: "jacquard", values: given})
		if err != nil && !strings.Contains(err.Error(), "don't meet the specifications of the schema") {
			t.Errorf("%s=null: %v", strings.Join(path, "."), err)
		}
		for _, o := range objects {
			if at := nulls("", o.Object); at != "" {
				t.Errorf("%s=null: %s has a null: %s", strings.Join(path, "."), title(o), at)
			}
		}
		_, isMap, _ := unstructured.NestedMap(defaults, path...)
		if isFree := isMap && !strings.Contains(string(read(t, dir+"/values.schema.json")), fmt.Sprintf(`%q: {`, path[len(path)-1])); isFree && err != nil {
			t.Errorf("%s=null is refused: %v", strings.Join(path, "."), err)
		}
	}
	if tried < 90 {
		t.Errorf("only %d values were tried", tried)
	}
	for path, isRefused := range map[string]bool{
		"resources": false, "commonLabels": false, "podLabels": false, "strategy": false, "global": false, "replicaCount": false,
		"image": true, "log": true, "metrics": true, "probes": true, "crds": true,
	} {
		_, err := render(release{name: "jacquard", namespace: "jacquard", values: map[string]any{path: nil}})
		if (err != nil) != isRefused {
			t.Errorf("%s=null: %v", path, err)
		}
	}
}

// paths are the paths of all values, and of all maps of values.
func paths(above []string, in map[string]any) (all [][]string) {
	for key, value := range in {
		path := append(append([]string{}, above...), key)
		all = append(all, path)
		if deeper, is := value.(map[string]any); is {
			all = append(all, paths(path, deeper)...)
		}
	}
	return all
}

// nulls is where a document has a null, or "".
func nulls(at string, in any) string {
	switch v := in.(type) {
	case nil:
		return at
	case map[string]any:
		for key, value := range v {
			if found := nulls(at+"."+key, value); found != "" {
				return found
			}
		}
	case []any:
		for i, value := range v {
			if found := nulls(fmt.Sprint(at, "[", i, "]"), value); found != "" {
				return found
			}
		}
	}
	return ""
}
