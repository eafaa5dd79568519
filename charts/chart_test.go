package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/cli"
	"github.com/jacquard-operator/jacquard/test/kit"
)

var cluster *kit.Cluster

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "jacquard" { // as the chart's Pod runs it
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	kit.Main(m, &cluster)
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// values reads a text as values.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	read := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &read); err != nil {
		t.Fatalf("reading values: %v\n%s", err, text)
	}
	return read
}

// combinations are the values of ci/, by name.
func combinations(t *testing.T) map[string]map[string]any {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "ci", "*-values.yaml"))
	if err != nil || len(found) < 12 {
		t.Fatalf("ci/ holds %d combinations: this test looks in the wrong place (%v)", len(found), err)
	}
	all := map[string]map[string]any{}
	for _, file := range found {
		all[strings.TrimSuffix(filepath.Base(file), "-values.yaml")] = values(t, string(read(t, file)))
	}
	all["samples"] = samples(t)
	return all
}

// samples are the values that enable the samples.
func samples(t *testing.T) map[string]any {
	t.Helper()
	return values(t, string(read(t, filepath.Join(dir, "samples.yaml"))))
}

// rendered is the chart with some values, released under its own name.
func rendered(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	objects, err := render(release{name: "jacquard", namespace: "jacquard", values: values})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// shipped are the names of the kinds that are in the chart.
func shipped(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "files", "kinds", "*.yaml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no kinds are in the chart: %v", err)
	}
	var names []string
	for _, file := range found {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return names
}

// ofKind picks objects of a kind.
func ofKind(objects []*unstructured.Unstructured, kind string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
}

// named is an object by kind and name.
func named(t *testing.T, objects []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range ofKind(objects, kind) {
		if o.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// title names an object in messages.
func title(o *unstructured.Unstructured) string {
	return path.Join(o.GetKind(), o.GetNamespace(), o.GetName())
}

// titles are those of objects, sorted.
func titles(objects []*unstructured.Unstructured) []string {
	all := map[string]bool{}
	for _, o := range objects {
		all[title(o)] = true
	}
	return slices.Sorted(maps.Keys(all))
}
