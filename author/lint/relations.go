package lint

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/render"
)

// checkIngress finds backends that do not exist.
func (f *family) checkIngress(c render.Child) []wrong {
	var all []wrong
	backend := func(value any, path ...any) {
		fields, _ := value.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "service", "name")
		if text := f.describeMissing("Service", name); text != "" {
			all = append(all, wrong{path: append(path, "service", "name"), text: text})
		}
	}
	spec, _ := c.Object.Object["spec"].(map[string]any)
	backend(spec["defaultBackend"], "spec", "defaultBackend")
	rules, _, _ := unstructured.NestedSlice(spec, "rules")
	for i, rule := range rules {
		fields, _ := rule.(map[string]any)
		paths, _, _ := unstructured.NestedSlice(fields, "http", "paths")
		for j, path := range paths {
			fields, _ := path.(map[string]any)
			backend(fields["backend"], "spec", "rules", i, "http", "paths", j, "backend")
		}
	}
	return all
}

// checkScaleTarget finds an autoscaler whose target does not exist.
func (f *family) checkScaleTarget(c render.Child) []wrong {
	kind, _, _ := unstructured.NestedString(c.Object.Object, "spec", "scaleTargetRef", "kind")
	name, _, _ := unstructured.NestedString(c.Object.Object, "spec", "scaleTargetRef", "name")
	if !slices.Contains([]string{"Deployment", "StatefulSet", "ReplicaSet"}, kind) {
		return nil
	}
	if text := f.describeMissing(kind, name); text != "" {
		return []wrong{{path: []any{"spec", "scaleTargetRef", "name"}, text: text}}
	}
	return nil
}

// checkBounds finds an autoscaler whose bounds exclude each other.
func checkBounds(c render.Child) []wrong {
	least, found, _ := unstructured.NestedInt64(c.Object.Object, "spec", "minReplicas")
	most, bounded, _ := unstructured.NestedInt64(c.Object.Object, "spec", "maxReplicas")
	if !found || !bounded || least <= most {
		return nil
	}
	return []wrong{{path: []any{"spec", "minReplicas"}, text: fmt.Sprintf(
		"minReplicas is %d and maxReplicas %d: the API server refuses it; let the CRD do so by a rule, or the template by fail", least, most)}}
}
