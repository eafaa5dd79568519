package apply

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// Patch applies fields to somebody else's object, the one with that uid, for
// the resource with the uid owner. It never forces: where another manager holds
// a field with another value, the server answers 409.
func (w *Writer) Patch(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	to Patching) (*unstructured.Unstructured, error) {
	how := request{manager: api.PatchManager(to.Owner), gentle: true}
	if to.Subresource != "" {
		how.subresources = []string{to.Subresource}
	}
	return w.applyDocument(ctx, r, withMetadata(doc, "uid", string(to.Object)), how)
}

// A Patching says which object is patched, and for whom.
type Patching struct {
	// Object is the object's uid, Owner that of the resource.
	Object, Owner types.UID
	Subresource   string
}

// ReleaseFields releases all fields of a patch, by applying the bare name, and
// returns the object.
func (w *Writer) ReleaseFields(ctx context.Context, r live.Resource, o metav1.Object, to Patching) (*unstructured.Unstructured, error) {
	bare := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": o.GetName()}}}
	bare.SetGroupVersionKind(r.GVK)
	bare.SetNamespace(o.GetNamespace())
	return w.Patch(ctx, r, bare, to)
}
