package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// Stage server-side applies a document of a golden case, or only a subresource of it,
// as somebody else than the operator. The object must have the uid of the document; it
// must not exist if the document has none.
func (w *Writer) Stage(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	subresources ...string) (*unstructured.Unstructured, error) {
	if doc.GetUID() == "" {
		doc = with(doc, "resourceVersion", "1")
	}
	return w.apply(ctx, r, doc, request{manager: api.FieldManager + "-test", subresources: subresources})
}
