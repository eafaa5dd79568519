package liveview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"

	"github.com/jacquard-operator/jacquard/author/crdfile"
	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
)

func things(t *testing.T, spec string, versions ...string) *crdschema.CRD {
	t.Helper()
	text := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
`
	for i, v := range versions {
		text += fmt.Sprintf("  - {name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: %s}}}}\n", v, i == 0, spec)
	}
	crd, err := crdfile.Parse("crd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// TestFits: resources that a changed CRD refuses are counted, and the first are
// named, but not those that the present one refuses too.
func TestFits(t *testing.T) {
	present := things(t, "{type: object, properties: {size: {type: integer, maximum: 9}, s: {type: string}}}", "v1", "v1alpha1")
	var objects []runtime.Object
	for i, n := range []int64{1, 7, 8, 9, 6, 5, 20} {
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Thing",
			"metadata": map[string]any{"name": fmt.Sprintf("t%d", i), "namespace": "ns", "managedFields": []any{}},
			"spec":     map[string]any{"size": n, "s": "hunter2"},
		}}
		objects = append(objects, u)
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{{Group: "example.com", Version: "v1", Resource: "things"}: "ThingList"}, objects...)
	s := &Survey{objects: client}
	for _, c := range []struct {
		name    string
		changed *crdschema.CRD
		want    Fit
	}{
		{"fewer", things(t, "{type: object, properties: {size: {type: integer, maximum: 5}}}", "v1"), Fit{7, 4, []string{
			"ns/t1: spec.size: must be ≤ 5 (is 7)", "ns/t2: spec.size: must be ≤ 5 (is 8)", "ns/t3: spec.size: must be ≤ 5 (is 9)"}}},
		{"more", things(t, "{type: object, properties: {size: {type: integer, maximum: 50}}}", "v2", "v1"), Fit{Resources: 7}},
		{"required", things(t, "{type: object, required: [z], properties: {z: {type: integer}}}", "v1"), Fit{7, 6, []string{
			"ns/t0: spec.z: is required", "ns/t1: spec.z: is required", "ns/t2: spec.z: is required"}}},
		{"required with a default", things(t, "{type: object, required: [z], properties: {z: {type: integer, default: 1}}}", "v1"), Fit{Resources: 7}},
		{"text", things(t, "{type: object, properties: {s: {type: string, enum: [a]}, size: {type: integer, maximum: 0}}}", "v1"), Fit{7, 6, []string{
			"ns/t0: spec.s: must be one of \"a\" (and 1 more)", "ns/t1: spec.s: must be one of \"a\" (and 1 more)",
			"ns/t2: spec.s: must be one of \"a\" (and 1 more)"}}},
		{"other version", things(t, "{type: object}", "v2"), Fit{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fit, err := s.Fits(t.Context(), present, c.changed)
			if err != nil {
				t.Fatal(err)
			}
			if fit.Resources != c.want.Resources || fit.Refused != c.want.Refused || !slices.Equal(fit.First, c.want.First) {
				t.Errorf("got %+v, wanted %+v", fit, c.want)
			}
			if strings.Contains(fmt.Sprint(fit), "hunter2") {
				t.Error("it tells a text")
			}
		})
	}
}
