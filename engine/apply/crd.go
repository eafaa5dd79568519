package apply

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

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

// InstallCRD server-side applies a CRD.
func (w *Writer) InstallCRD(ctx context.Context, crd *unstructured.Unstructured) error {
	if w.locked {
		return errReadOnly
	}
	body, err := json.Marshal(crd.Object)
	if err != nil {
		return err
	}
	_, err = w.objects.Resource(crds).Patch(ctx, crd.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: api.FieldManager + "-install", Force: ptr.To(true), DryRun: w.dryRun()})
	return err
}
