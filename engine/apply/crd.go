package apply

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// Annotate changes annotations of a CRD, nil takes one off, if the CRD is still
// as it was seen, and returns it. A conflict means that it is not.
func (w *Writer) Annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": string(crd.GetUID()), "resourceVersion": crd.GetResourceVersion(), "annotations": annotations,
	}})
	if err != nil {
		return nil, err
	}
	return w.objects.Resource(crds).Patch(ctx, crd.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: api.FieldManager})
}

// CRD reads a CRD.
func (w *Writer) CRD(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	return w.objects.Resource(crds).Get(ctx, name, metav1.GetOptions{})
}
