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

// Dry returns a Writer all of whose writes are dry runs: the server answers as
// it would answer the write, admission and preconditions included, and changes
// nothing.
func (w *Writer) Dry() *Writer {
	dry := *w
	dry.dry = true
	if w.accounts != nil {
		dry.accounts = &accounts{cfg: w.accounts.cfg, writers: map[string]*Writer{}, dry: true, barred: w.barred}
	}
	return &dry
}

func (w *Writer) dryRun() []string {
	if w.dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// applier is the field manager under which a file is tried: whoever server-side
// applied the resource last, so that what the file says no more goes; else that
// of kubectl.
func applier(current *unstructured.Unstructured) string {
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

// TryFile asks what the server would make of a custom resource if a person
// applied this document, as kubectl does: where the live object (nil: there is
// none) keeps what kubectl applied last, by a merge of the three, else by
// server-side apply. Nothing is changed.
func (w *Writer) TryFile(ctx context.Context, r live.Resource,
	doc, current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	how, patch, opts := types.ApplyPatchType, []byte(nil), metav1.PatchOptions{
		FieldManager: applier(current), DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
	}
	modified, err := json.Marshal(doc.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	patch = modified
	opts.Force = ptr.To(true)
	if current != nil && current.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != "" {
		how, opts.Force = types.MergePatchType, nil
		if patch, err = merged(modified, current); err != nil {
			return nil, fmt.Errorf("comparing %s %s with what was applied last: %w", doc.GetKind(), doc.GetName(), err)
		}
	}
	return send(ctx, doc.Object, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.of(r, doc.GetNamespace()).Patch(ctx, doc.GetName(), how, patch, opts)
	})
}

// merged is the patch by which kubectl makes the live object say what modified
// says, and not what it said last.
func merged(modified []byte, found *unstructured.Unstructured) ([]byte, error) {
	current, err := json.Marshal(found.Object)
	if err != nil {
		return nil, err
	}
	last := []byte(found.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	return jsonmergepatch.CreateThreeWayJSONMergePatch(last, modified, current)
}

// Tries reports whether all writes are dry runs.
func (w *Writer) Tries() bool { return w.dry }
