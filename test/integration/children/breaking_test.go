package children

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/controller"
	"github.com/jacquard-operator/jacquard/test/kit"
)

// TestBreakingCRD: an operator that installs CRDs does not change one so that it
// breaks resources, unless it may. It serves the kind on, and changes the others.
func TestBreakingCRD(t *testing.T) {
	t.Parallel()
	broken, other := newThing(t, "breaking", plain()), newThing(t, "loosened", plain())
	op := broken.run(t, other)
	for _, k := range []*thing{broken, other} {
		k.apply(t, "a", "text: long")
		k.ready(t, "a")
	}
	op.Stop(t)

	broken.fields, other.fields = "size: {type: integer, default: 1}\n            required: [size, other]", "size: {type: integer}"
	broken.writeCRD(t)
	other.writeCRD(t)
	op = broken.run(t, other)
	kit.Eventually(t, "the other CRD is changed", func() error { return other.declares("size") })
	if broken.declares("size") == nil {
		t.Error("the CRD was changed, though that breaks resources")
	}
	broken.apply(t, "b", "text: new")
	broken.ready(t, "b")
	op.Stop(t)

	cluster.Run(t, func(o *controller.Options) { o.InstallCRDs, o.AllowBreaking = true, true }, broken.root, other.root)
	kit.Eventually(t, "the CRD is changed", func() error { return broken.declares("size") })
}

// declares says whether the CRD in the cluster declares a field of the spec.
func (k *thing) declares(field string) error {
	crd, err := cluster.Get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", k.name())
	if err != nil {
		return err
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	_, found, _ := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", field)
	if !found {
		return fmt.Errorf("%s does not declare spec.%s", k.name(), field)
	}
	return nil
}
