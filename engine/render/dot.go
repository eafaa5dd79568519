package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// Dot is what `.` shows of a custom resource: apiVersion, kind, spec, status
// and the metadata that people write, without labels and annotations that are
// ours or of tools that track objects.
func Dot(resource *unstructured.Unstructured) map[string]any {
	o := resource.Object
	meta, _ := o["metadata"].(map[string]any)
	shown := map[string]any{}
	for _, key := range schema.Shown {
		v, ok := meta[key]
		if texts, are := v.(map[string]any); are { // labels and annotations
			left := visible(texts)
			v, ok = left, len(left) > 0
		}
		if ok {
			shown[key] = v
		}
	}
	dot := map[string]any{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": shown}
	for _, key := range []string{"spec", "status"} {
		if v, ok := o[key]; ok {
			dot[key] = v
		}
	}
	return dot
}

func visible(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for key, value := range m {
		if !api.Hidden(key) {
			out[key] = value
		}
	}
	return out
}
