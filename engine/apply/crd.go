package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// definitions are the CRDs.
var definitions = live.Resource{GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}}

// Annotate changes annotations of a CRD, nil takes one off, if the CRD is still
// as it was seen, and returns it. A conflict means that it is not.
func (w *Writer) Annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) (*unstructured.Unstructured, error) {
	return w.Metadata(ctx, definitions, crd, map[string]any{"annotations": annotations, "resourceVersion": crd.GetResourceVersion()})
}

// CRD reads a CRD.
func (w *Writer) CRD(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	return w.Read(ctx, definitions, "", name)
}

// InstallCRD server-side applies a CRD: it creates it, or changes the one that is
// there, if may allows that, and not one that came in its place meanwhile. It looks
// by a list, to which every operator has the right; to get has none.
func (w *Writer) InstallCRD(ctx context.Context, crd *unstructured.Unstructured, may func(there *unstructured.Unstructured) error) error {
	found, err := send(ctx, nil, func(ctx context.Context) (*unstructured.UnstructuredList, error) {
		return w.of(definitions, "").List(ctx, metav1.ListOptions{FieldSelector: metav1.ObjectNameField + "=" + crd.GetName()})
	})
	if err != nil {
		return err
	}
	doc := with(crd, "resourceVersion", "1")
	if len(found.Items) > 0 {
		there := &found.Items[0]
		if err := may(there); err != nil {
			return err
		}
		doc = with(crd, "uid", string(there.GetUID()))
	}
	_, err = w.apply(ctx, definitions, doc, request{manager: api.FieldManager + "-install"})
	return err
}
