package schema

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// TestDefinition: a schema has its keys at any depth, with what is said of them.
func TestDefinition(t *testing.T) {
	gvk := Definition()
	at := func(path string) *Type {
		found := gvk
		for _, step := range strings.Fields(path) {
			if step == "[]" {
				found = found.Elem()
				continue
			}
			next, ok := found.Field(step)
			if !ok {
				t.Fatalf("there is no %s in %s", step, path)
			}
			found = next
		}
		return found
	}
	const root = "spec versions [] schema openAPIV3Schema"
	for _, path := range []string{root, root + " properties spec properties a items", root + " additionalProperties", root + " anyOf []"} {
		if got := at(path + " type").Enum(); len(got) != 6 {
			t.Errorf("%s: type is one of %v", path, got)
		}
		if got := at(path + " minimum").Kind(); got != KindNumber {
			t.Errorf("%s: minimum is %s", path, got)
		}
	}
	if got := at("spec scope").Enum(); len(got) != 2 {
		t.Errorf("scope is one of %v", got)
	}
	builtIn := BuiltInType(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if spec, _ := builtIn.Field("spec"); spec == nil || len(spec.fields["scope"].Enum()) != 0 {
		t.Error("the type that is shared changed")
	}
}
