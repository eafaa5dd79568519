package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// A Writer writes to one cluster, as one account.
type Writer struct {
	objects  dynamic.Interface
	metadata metadata.Interface
	accounts *accounts
	// dry: the server is asked what it would do, and changes nothing.
	dry bool
	// locked: every write is refused before it is sent.
	locked bool
}

// requestLimit is how long the server may take over one request before it
// counts as lost.
const requestLimit = time.Minute

// NewWriter returns a Writer. httpClient may be shared with other clients of
// the same cluster.
func NewWriter(cfg *rest.Config, httpClient *http.Client) (*Writer, error) {
	w, err := newWriter(cfg, httpClient)
	if err != nil {
		return nil, err
	}
	w.accounts = &accounts{cfg: rest.CopyConfig(cfg), writers: map[string]*Writer{}}
	return w, nil
}

func newWriter(cfg *rest.Config, httpClient *http.Client) (*Writer, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // the API server is fair to its clients; a limiter here would let one kind hold up the others
	objects, err := dynamic.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	meta, err := metadata.NewForConfigAndClient(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("making a metadata client: %w", err)
	}
	return &Writer{objects: objects, metadata: meta}, nil
}

// Create applies a document that must not exist yet and returns what the
// server made of it. It never changes an object that is there.
func (w *Writer) Create(ctx context.Context, r observe.Resource, doc *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return w.apply(ctx, r, with(doc, "resourceVersion", "1"), request{})
}

// Update applies a document to the object with that uid.
func (w *Writer) Update(ctx context.Context, r observe.Resource, doc *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	return w.apply(ctx, r, with(doc, "uid", string(uid)), request{})
}

// Probe asks whether the server would create the document, by a dry run under
// a name that nobody has, and returns what it would make of it.
func (w *Writer) Probe(ctx context.Context, r observe.Resource, doc *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	probe := doc.DeepCopy()
	probe.SetName("probe-" + string(uuid.NewUUID()))
	return w.Dry().apply(ctx, r, with(probe, "resourceVersion", "1"), request{})
}

// A request is how a document is applied: as ours and with force, unless it
// names another manager.
type request struct {
	manager      string
	subresources []string
}

// apply server-side applies a document that has a precondition in its metadata.
func (w *Writer) apply(ctx context.Context, r observe.Resource, doc *unstructured.Unstructured, how request) (*unstructured.Unstructured, error) {
	if w.locked {
		return nil, errReadOnly
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	body, err := json.Marshal(doc.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	opts := metav1.PatchOptions{
		FieldManager: cmp.Or(how.manager, api.FieldManager), Force: ptr.To(how.manager == ""),
		DryRun: w.dryRun(), FieldValidation: metav1.FieldValidationStrict,
	}
	if scheme.Scheme.Recognizes(doc.GroupVersionKind()) {
		// The types of the server find unknown fields by themselves, and it
		// is spared a parse.
		opts.FieldValidation = metav1.FieldValidationIgnore
	}
	return w.of(r, doc.GetNamespace()).Patch(ctx, doc.GetName(), types.ApplyPatchType, body, opts, how.subresources...)
}

// with is the document with one more field in its metadata.
func with(doc *unstructured.Unstructured, field, value string) *unstructured.Unstructured {
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

func (w *Writer) of(r observe.Resource, namespace string) dynamic.ResourceInterface {
	if r.Namespaced {
		return w.objects.Resource(r.GVR).Namespace(namespace)
	}
	return w.objects.Resource(r.GVR)
}

// Delete deletes the object with that uid; propagation says what becomes of
// its dependents.
func (w *Writer) Delete(ctx context.Context, r observe.Resource, o metav1.Object, propagation metav1.DeletionPropagation) error {
	if w.locked {
		return errReadOnly
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	uid := o.GetUID()
	return w.of(r, o.GetNamespace()).Delete(ctx, o.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: &propagation,
		DryRun:            w.dryRun(),
	})
}

// Read reads an object from the server itself.
func (w *Writer) Read(ctx context.Context, r observe.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	return w.of(r, namespace).Get(ctx, name, metav1.GetOptions{})
}

// Whose reads the metadata of an existing object, to tell whose it is.
func (w *Writer) Whose(ctx context.Context, r observe.Resource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	if r.Namespaced {
		return w.metadata.Resource(r.GVR).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return w.metadata.Resource(r.GVR).Get(ctx, name, metav1.GetOptions{})
}

// DropEntry drops one entry of an object's managedFields, if the object is
// still at that resourceVersion.
func (w *Writer) DropEntry(ctx context.Context, r observe.Resource, o *unstructured.Unstructured, index int) (*unstructured.Unstructured, error) {
	return w.entry(ctx, r, o, map[string]any{"op": "remove", "path": fmt.Sprintf("/metadata/managedFields/%d", index)})
}

// A Cut leaves the entry at Index of an object's managedFields these fields.
type Cut struct {
	Index  int
	Fields *metav1.FieldsV1
}

// CutEntry cuts an entry of an object's managedFields, if the object is still
// at that resourceVersion.
func (w *Writer) CutEntry(ctx context.Context, r observe.Resource, o *unstructured.Unstructured, cut Cut) (*unstructured.Unstructured, error) {
	return w.entry(ctx, r, o, map[string]any{"op": "replace", "path": fmt.Sprintf("/metadata/managedFields/%d/fieldsV1", cut.Index), "value": cut.Fields})
}

// entry changes one entry of managedFields by a JSON patch.
func (w *Writer) entry(ctx context.Context, r observe.Resource, o *unstructured.Unstructured, change map[string]any) (*unstructured.Unstructured, error) {
	if w.locked {
		return nil, errReadOnly
	}
	if w.dry { // o is the answer to a dry run: the server's entries are not the same
		return o, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()}, change,
	})
	if err != nil {
		return nil, err
	}
	answer, err := w.of(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: api.FieldManager, DryRun: w.dryRun()})
	if apierrors.IsInvalid(err) {
		// A test that fails is answered as if the patch were at fault.
		return nil, apierrors.NewConflict(r.GVR.GroupResource(), o.GetName(), errors.New("it changed meanwhile"))
	}
	return answer, err
}

// Status applies the status of a custom resource and returns the resource.
func (w *Writer) Status(ctx context.Context, r observe.Resource, resource *unstructured.Unstructured, status map[string]any) (*unstructured.Unstructured, error) {
	if w.locked {
		return nil, errReadOnly
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	body, err := json.Marshal(map[string]any{
		"apiVersion": resource.GetAPIVersion(), "kind": resource.GetKind(),
		"metadata": map[string]any{"name": resource.GetName(), "uid": string(resource.GetUID())},
		"status":   status,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding status: %w", err)
	}
	return w.of(r, resource.GetNamespace()).Patch(ctx, resource.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: api.FieldManager, Force: ptr.To(true), DryRun: w.dryRun()}, "status")
}

// Metadata merges fields into the metadata of the object with that uid, at
// that resourceVersion if fields name one, and returns the object.
func (w *Writer) Metadata(ctx context.Context, r observe.Resource, o metav1.Object, fields map[string]any) (*unstructured.Unstructured, error) {
	if w.locked {
		return nil, errReadOnly
	}
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	meta := maps.Clone(fields)
	meta["uid"] = string(o.GetUID())
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return nil, err
	}
	return w.of(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, body, metav1.PatchOptions{FieldManager: api.FieldManager, DryRun: w.dryRun()})
}
