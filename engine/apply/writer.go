package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Writer writes to one cluster, as one account.
type Writer struct {
	*Reader
	mode
	accounts *accounts
}

// NewWriter returns a Writer. httpClient may be shared with other clients of
// the same cluster. A Writer of a configuration that
// transport.Configure made sends each request once.
func NewWriter(cfg *rest.Config, httpClient *http.Client) (*Writer, error) {
	reader, err := newReader(cfg, httpClient)
	if err != nil {
		return nil, err
	}
	return &Writer{Reader: reader, accounts: newAccounts(cfg)}, nil
}

// Create applies a document that must not exist yet and returns what the
// server made of it. It never changes an object that is there.
func (w *Writer) Create(ctx context.Context, r live.Resource, doc *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return w.applyDocument(ctx, r, withMetadata(doc, "resourceVersion", "1"), request{})
}

// Update applies a document to the object with that uid.
func (w *Writer) Update(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	uid types.UID) (*unstructured.Unstructured, error) {
	return w.applyDocument(ctx, r, withMetadata(doc, "uid", string(uid)), request{})
}

// Probe asks whether the server would create the document, by a dry run under
// a name that nobody has, and returns what it would make of it.
func (w *Writer) Probe(ctx context.Context, r live.Resource, doc *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	probe := doc.DeepCopy()
	probe.SetName("probe-" + string(uuid.NewUUID()))
	return w.Dry().applyDocument(ctx, r, withMetadata(probe, "resourceVersion", "1"), request{})
}

// A request is how a document is applied: as ours, unless it names another
// manager, and with force, unless it is gentle.
type request struct {
	manager      string
	gentle       bool
	subresources []string
	// live is the object as it was seen, for whoever may not get it; or nil.
	live metav1.Object
}

// applyDocument server-side applies a document that has a precondition in its metadata.
func (w *Writer) applyDocument(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	how request) (*unstructured.Unstructured, error) {
	ctx, err := w.checkGate(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(doc.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	opts := metav1.PatchOptions{
		FieldManager: cmp.Or(how.manager, api.FieldManager), Force: ptr.To(!how.gentle),
		DryRun: w.dryRunOption(), FieldValidation: metav1.FieldValidationStrict,
	}
	if scheme.Scheme.Recognizes(doc.GroupVersionKind()) {
		// The types of the server find unknown fields by themselves, and it
		// is spared a parse.
		opts.FieldValidation = metav1.FieldValidationIgnore
	}
	apply := func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.objectsOf(r, doc.GetNamespace()).Patch(ctx, doc.GetName(), types.ApplyPatchType, body, opts, how.subresources...)
	}
	answer, err := sendRequest(ctx, doc.Object, apply)
	switch {
	case !isOtherVersion(err):
	case w.isDry:
		err = explainOtherVersion(err)
	case w.migrateEntries(ctx, r, doc, how) == nil:
		return sendRequest(ctx, doc.Object, apply)
	}
	return answer, err
}

// withMetadata returns the document with one more field in its metadata.
func withMetadata(doc *unstructured.Unstructured, field, value string) *unstructured.Unstructured {
	out := make(map[string]any, len(doc.Object))
	for k, v := range doc.Object {
		out[k] = v
	}
	meta := map[string]any{field: value}
	old, _ := doc.Object["metadata"].(map[string]any)
	for k, v := range old {
		meta[k] = v
	}
	out["metadata"] = meta
	return &unstructured.Unstructured{Object: out}
}

// Delete deletes the object with that uid; propagation says what becomes of
// its dependents.
func (w *Writer) Delete(ctx context.Context, r live.Resource, o metav1.Object, propagation metav1.DeletionPropagation) error {
	return deleteObject(ctx, w, r, o, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: ptr.To(o.GetUID())}, PropagationPolicy: &propagation})
}

// DeleteUnchanged deletes an object, if it is still as it was read.
func (w *Writer) DeleteUnchanged(ctx context.Context, r live.Resource, read metav1.Object, propagation metav1.DeletionPropagation) error {
	return deleteObject(ctx, w, r, read, metav1.DeleteOptions{PropagationPolicy: &propagation,
		Preconditions: &metav1.Preconditions{UID: ptr.To(read.GetUID()), ResourceVersion: ptr.To(read.GetResourceVersion())}})
}

func deleteObject(ctx context.Context, w *Writer, r live.Resource, o metav1.Object, how metav1.DeleteOptions) error {
	ctx, err := w.checkGate(ctx)
	if err != nil {
		return err
	}
	how.DryRun = w.dryRunOption()
	_, err = sendRequest(ctx, nil, func(ctx context.Context) (any, error) {
		return nil, w.objectsOf(r, o.GetNamespace()).Delete(ctx, o.GetName(), how)
	})
	return err
}

// Status applies the status of a custom resource and returns the resource.
func (w *Writer) Status(ctx context.Context, r live.Resource, resource *unstructured.Unstructured,
	status map[string]any) (*unstructured.Unstructured, error) {
	doc := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	doc.SetGroupVersionKind(resource.GroupVersionKind())
	doc.SetNamespace(resource.GetNamespace())
	doc.SetName(resource.GetName())
	how := request{subresources: []string{"status"}, live: resource}
	return w.applyDocument(ctx, r, withMetadata(doc, "uid", string(resource.GetUID())), how)
}

// Metadata merges fields into the metadata of the object with that uid, at
// that resourceVersion if fields name one, and returns the object.
func (w *Writer) Metadata(ctx context.Context, r live.Resource, o metav1.Object,
	fields map[string]any) (*unstructured.Unstructured, error) {
	ctx, err := w.checkGate(ctx)
	if err != nil {
		return nil, err
	}
	meta := maps.Clone(fields)
	meta["uid"] = string(o.GetUID())
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return nil, err
	}
	return sendRequest(ctx, map[string]any{"metadata": meta}, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.objectsOf(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, body, w.patchOptions())
	})
}
