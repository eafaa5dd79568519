package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// Stage server-side applies a document of a golden case, or only a subresource of it,
// as somebody else than the operator. The object must have the uid of the document; it
// must not exist if the document has none. A dry run has a field manager of its own:
// what was staged before stays, as far as the document does not say otherwise.
func (w *Writer) Stage(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	subresources ...string) (*unstructured.Unstructured, error) {
	if doc.GetUID() == "" {
		doc = with(doc, "resourceVersion", "1")
	}
	manager := api.FieldManager + "-test"
	if w.dry {
		manager += "-want"
	}
	return w.apply(ctx, r, doc, request{manager: manager, subresources: subresources})
}
