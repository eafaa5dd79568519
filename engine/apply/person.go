package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Person writes as people do, under other field managers than the operator.
type Person struct{ *Writer }

// Stage server-side applies a document of a golden case, or only a subresource of it. The object
// must have the uid of the document; it must not exist if the document has none. A dry run has a
// field manager of its own: what was staged before stays, as far as the document does not say
// otherwise.
func (p Person) Stage(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	subresources ...string) (*unstructured.Unstructured, error) {
	if doc.GetUID() == "" {
		doc = withMetadata(doc, "resourceVersion", "1")
	}
	manager := api.FieldManager + "-test"
	if p.isDry {
		manager += "-want"
	}
	return p.applyDocument(ctx, r, doc, request{manager: manager, subresources: subresources})
}

// TryFile asks what the server would make of a custom resource if a person
// applied this document, as kubectl does: where the live object (nil: there is
// none) keeps what kubectl applied last, by a merge of the three, else by
// server-side apply. Nothing is changed.
func (p Person) TryFile(ctx context.Context, r live.Resource,
	doc, current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	modified, err := json.Marshal(doc.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	how, patch, opts := types.ApplyPatchType, modified, metav1.PatchOptions{
		FieldManager: findApplier(current), Force: ptr.To(true),
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	}
	if current != nil && current.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != "" {
		how, opts.Force = types.MergePatchType, nil
		if patch, err = mergeLastApplied(modified, current); err != nil {
			return nil, fmt.Errorf("comparing %s %s with what was applied last: %w", doc.GetKind(), doc.GetName(), err)
		}
	}
	return sendRequest(ctx, doc.Object, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return p.objectsOf(r, doc.GetNamespace()).Patch(ctx, doc.GetName(), how, patch, opts)
	})
}

// findApplier returns the field manager under which a file is tried: whoever server-side
// applied the resource last, so that what the file says no more goes; else that
// of kubectl.
func findApplier(current *unstructured.Unstructured) string {
	manager, last := "kubectl", time.Time{}
	if current == nil {
		return manager
	}
	for _, m := range current.GetManagedFields() {
		ours := m.Manager == api.FieldManager || m.Subresource != "" || m.Operation != metav1.ManagedFieldsOperationApply
		if !ours && m.Time != nil && m.Time.After(last) {
			manager, last = m.Manager, m.Time.Time
		}
	}
	return manager
}

// mergeLastApplied returns the patch by which kubectl makes the live object say what modified
// says, and not what it said last.
func mergeLastApplied(modified []byte, found *unstructured.Unstructured) ([]byte, error) {
	current, err := json.Marshal(found.Object)
	if err != nil {
		return nil, err
	}
	last := []byte(found.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	return jsonmergepatch.CreateThreeWayJSONMergePatch(last, modified, current)
}
