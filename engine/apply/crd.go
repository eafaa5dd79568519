package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// CRDs writes CRDs.
type CRDs struct{ *Writer }

// CRDsOf returns what writes CRDs by a Writer.
func CRDsOf(w *Writer) CRDs { return CRDs{w} }

var crds = live.Resource{GVR: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}}

// Annotate changes annotations of a CRD, nil takes one off, if the CRD is still
// as it was seen, and returns it. A conflict means that it is not.
func (c CRDs) Annotate(ctx context.Context, crd metav1.Object, annotations map[string]any) (*unstructured.Unstructured, error) {
	return c.Metadata(ctx, crds, crd, map[string]any{"annotations": annotations, "resourceVersion": crd.GetResourceVersion()})
}

// Install server-side applies a CRD: it creates it, or changes the one that is
// there, if may allows that, and not one that came in its place meanwhile. It looks
// by a list, to which every operator has the right; to get has none.
func (c CRDs) Install(ctx context.Context, crd *unstructured.Unstructured, may func(there *unstructured.Unstructured) error) error {
	found, err := sendRequest(ctx, nil, func(ctx context.Context) (*unstructured.UnstructuredList, error) {
		return c.objectsOf(crds, "").List(ctx, metav1.ListOptions{FieldSelector: metav1.ObjectNameField + "=" + crd.GetName()})
	})
	if err != nil {
		return err
	}
	doc := withMetadata(crd, "resourceVersion", "1")
	if len(found.Items) > 0 {
		there := &found.Items[0]
		if err := may(there); err != nil {
			return err
		}
		doc = withMetadata(crd, "uid", string(there.GetUID()))
	}
	_, err = c.applyDocument(ctx, crds, doc, request{manager: api.FieldManager + "-install"})
	return err
}
