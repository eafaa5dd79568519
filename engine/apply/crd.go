package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/observe"
)

// Annotate changes annotations of a CRD, nil takes one off, if the CRD is still
// as it was seen, and returns it. A conflict means that it is not.
func (w *Writer) Annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) (*unstructured.Unstructured, error) {
	return w.Metadata(ctx, observe.Resource{GVR: crds}, crd, map[string]any{"annotations": annotations, "resourceVersion": crd.GetResourceVersion()})
}

// CRD reads a CRD.
func (w *Writer) CRD(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	return w.objects.Resource(crds).Get(ctx, name, metav1.GetOptions{})
}
