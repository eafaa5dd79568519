package apply

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Writer writes to one cluster, as one account.
type Writer struct {
	objects  dynamic.Interface
	metadata metadata.Interface
	accounts *accounts
	// dry: the server is asked what it would do, and changes nothing.
	dry bool
	// barred says why no write may be sent now; nil: all may be.
	barred bar
}

// NewWriter returns a Writer. httpClient may be shared with other clients of
// the same cluster. A Writer of a configuration that
// transport.Configure made sends each request once.
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
func (w *Writer) Create(ctx context.Context, r live.Resource, doc *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return w.apply(ctx, r, with(doc, "resourceVersion", "1"), request{})
}

// Update applies a document to the object with that uid.
func (w *Writer) Update(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	uid types.UID) (*unstructured.Unstructured, error) {
	return w.apply(ctx, r, with(doc, "uid", string(uid)), request{})
}

// Probe asks whether the server would create the document, by a dry run under
// a name that nobody has, and returns what it would make of it.
func (w *Writer) Probe(ctx context.Context, r live.Resource, doc *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	probe := doc.DeepCopy()
	probe.SetName("probe-" + string(uuid.NewUUID()))
	return w.Dry().apply(ctx, r, with(probe, "resourceVersion", "1"), request{})
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

// apply server-side applies a document that has a precondition in its metadata.
func (w *Writer) apply(ctx context.Context, r live.Resource, doc *unstructured.Unstructured,
	how request) (*unstructured.Unstructured, error) {
	ctx, err := w.bar(ctx)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(doc.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", doc.GetKind(), doc.GetName(), err)
	}
	opts := metav1.PatchOptions{
		FieldManager: cmp.Or(how.manager, api.FieldManager), Force: ptr.To(!how.gentle),
		DryRun: w.dryRun(), FieldValidation: metav1.FieldValidationStrict,
	}
	if scheme.Scheme.Recognizes(doc.GroupVersionKind()) {
		// The types of the server find unknown fields by themselves, and it
		// is spared a parse.
		opts.FieldValidation = metav1.FieldValidationIgnore
	}
	apply := func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.of(r, doc.GetNamespace()).Patch(ctx, doc.GetName(), types.ApplyPatchType, body, opts, how.subresources...)
	}
	answer, err := send(ctx, doc.Object, apply)
	switch {
	case !otherVersion(err):
	case w.dry:
		err = unshown(err)
	case w.migrate(ctx, r, doc, how) == nil:
		return send(ctx, doc.Object, apply)
	}
	return answer, err
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

func (w *Writer) of(r live.Resource, namespace string) dynamic.ResourceInterface {
	if r.Namespaced {
		return w.objects.Resource(r.GVR).Namespace(namespace)
	}
	return w.objects.Resource(r.GVR)
}

// Delete deletes the object with that uid; propagation says what becomes of
// its dependents.
func (w *Writer) Delete(ctx context.Context, r live.Resource, o metav1.Object, propagation metav1.DeletionPropagation) error {
	return w.deleteIf(ctx, r, o, &metav1.Preconditions{UID: ptr.To(o.GetUID())}, propagation)
}

// DeleteUnchanged deletes an object, if it is still as it was read.
func (w *Writer) DeleteUnchanged(ctx context.Context, r live.Resource, read metav1.Object, propagation metav1.DeletionPropagation) error {
	as := &metav1.Preconditions{UID: ptr.To(read.GetUID()), ResourceVersion: ptr.To(read.GetResourceVersion())}
	return w.deleteIf(ctx, r, read, as, propagation)
}

func (w *Writer) deleteIf(ctx context.Context, r live.Resource, o metav1.Object, as *metav1.Preconditions,
	propagation metav1.DeletionPropagation) error {
	ctx, err := w.bar(ctx)
	if err != nil {
		return err
	}
	how := metav1.DeleteOptions{Preconditions: as, PropagationPolicy: &propagation, DryRun: w.dryRun()}
	_, err = send(ctx, nil, func(ctx context.Context) (any, error) {
		return nil, w.of(r, o.GetNamespace()).Delete(ctx, o.GetName(), how)
	})
	return err
}

// Read reads an object from the server itself.
func (w *Writer) Read(ctx context.Context, r live.Resource, namespace, name string) (*unstructured.Unstructured, error) {
	return send(ctx, nil, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.of(r, namespace).Get(ctx, name, metav1.GetOptions{})
	})
}

// A Selection is which objects a list is of: those in a namespace, with labels that
// match, at most Limit of them.
type Selection struct {
	Namespace string
	Labels    labels.Selector
	Limit     int64
}

// List lists objects of a kind, from the server itself.
func (w *Writer) List(ctx context.Context, r live.Resource, in Selection) (*unstructured.UnstructuredList, error) {
	return send(ctx, nil, func(ctx context.Context) (*unstructured.UnstructuredList, error) {
		return w.of(r, in.Namespace).List(ctx, metav1.ListOptions{LabelSelector: in.Labels.String(), Limit: in.Limit})
	})
}

// CollectionVersion returns the resourceVersion that the collection of a kind has now. It is a
// consistent read of at most one object.
func (w *Writer) CollectionVersion(ctx context.Context, r live.Resource, namespace string) (string, error) {
	found, err := send(ctx, nil, func(ctx context.Context) (*metav1.PartialObjectMetadataList, error) {
		one := metav1.ListOptions{Limit: 1}
		if r.Namespaced {
			return w.metadata.Resource(r.GVR).Namespace(namespace).List(ctx, one)
		}
		return w.metadata.Resource(r.GVR).List(ctx, one)
	})
	if err != nil {
		return "", err
	}
	return found.ResourceVersion, nil
}

// GetMetadata reads the metadata of an existing object, to tell whose it is.
func (w *Writer) GetMetadata(ctx context.Context, r live.Resource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	return send(ctx, nil, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
		if r.Namespaced {
			return w.metadata.Resource(r.GVR).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		}
		return w.metadata.Resource(r.GVR).Get(ctx, name, metav1.GetOptions{})
	})
}

// Find does the same by a list, where there is no right to get; it returns nil if there is no
// such object.
func (w *Writer) Find(ctx context.Context, r live.Resource, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	named := metav1.ListOptions{FieldSelector: metav1.ObjectNameField + "=" + name}
	found, err := send(ctx, nil, func(ctx context.Context) (*metav1.PartialObjectMetadataList, error) {
		if r.Namespaced {
			return w.metadata.Resource(r.GVR).Namespace(namespace).List(ctx, named)
		}
		return w.metadata.Resource(r.GVR).List(ctx, named)
	})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

// pageSize is how many objects one list may answer at once.
const pageSize = 500

// Some reports whether the server itself has an object of a kind, in any namespace
// and with that label ("": any), that is meant.
func (w *Writer) Some(ctx context.Context, r live.Resource, label string, meant func(metav1.Object) bool) (bool, error) {
	opts := metav1.ListOptions{LabelSelector: label, Limit: pageSize}
	for {
		page, err := send(ctx, nil, func(ctx context.Context) (*metav1.PartialObjectMetadataList, error) {
			return w.metadata.Resource(r.GVR).List(ctx, opts)
		})
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(page.Items, func(o metav1.PartialObjectMetadata) bool { return meant(&o) }) {
			return true, nil
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return false, nil
		}
	}
}

// DropEntry drops one entry of an object's managedFields, if the object is
// still at that resourceVersion.
func (w *Writer) DropEntry(ctx context.Context, r live.Resource, o *unstructured.Unstructured,
	index int) (*unstructured.Unstructured, error) {
	if len(o.GetManagedFields()) == 1 { // an empty list would be as none given
		return w.entry(ctx, r, o, map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": []any{map[string]any{}}})
	}
	return w.entry(ctx, r, o, map[string]any{"op": "remove", "path": fmt.Sprintf("/metadata/managedFields/%d", index)})
}

// A Cut leaves the entry at Index of an object's managedFields these fields.
type Cut struct {
	Index  int
	Fields *metav1.FieldsV1
}

// CutEntry cuts an entry of an object's managedFields, if the object is still
// at that resourceVersion.
func (w *Writer) CutEntry(ctx context.Context, r live.Resource, o *unstructured.Unstructured, cut Cut) (*unstructured.Unstructured, error) {
	return w.entry(ctx, r, o, map[string]any{"op": "replace", "path": fmt.Sprintf("/metadata/managedFields/%d/fieldsV1", cut.Index),
		"value": cut.Fields})
}

// entry changes one entry of managedFields by a JSON patch.
func (w *Writer) entry(ctx context.Context, r live.Resource, o *unstructured.Unstructured,
	change map[string]any) (*unstructured.Unstructured, error) {
	ctx, err := w.bar(ctx)
	if err != nil {
		return nil, err
	}
	if w.dry { // o is the answer to a dry run: the server's entries are not the same
		return o, nil
	}
	return w.entries(ctx, r, o, edit{changes: []map[string]any{change}})
}

// An edit is a JSON patch, of the object or of a subresource.
type edit struct {
	changes      []map[string]any
	subresources []string
}

// entries changes entries of managedFields by a JSON patch, if the object is still
// at that resourceVersion.
func (w *Writer) entries(ctx context.Context, r live.Resource, o metav1.Object, what edit) (*unstructured.Unstructured, error) {
	test := map[string]any{"op": "test", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()}
	patch, err := json.Marshal(append([]map[string]any{test}, what.changes...))
	if err != nil {
		return nil, err
	}
	return send(ctx, nil, func(ctx context.Context) (*unstructured.Unstructured, error) {
		answer, err := w.of(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.JSONPatchType, patch,
			metav1.PatchOptions{FieldManager: api.FieldManager, DryRun: w.dryRun()}, what.subresources...)
		if apierrors.IsInvalid(err) {
			// A test that fails is answered as if the patch were at fault.
			return nil, apierrors.NewConflict(r.GVR.GroupResource(), o.GetName(), errors.New("it changed meanwhile"))
		}
		return answer, err
	})
}

// Status applies the status of a custom resource and returns the resource.
func (w *Writer) Status(ctx context.Context, r live.Resource, resource *unstructured.Unstructured,
	status map[string]any) (*unstructured.Unstructured, error) {
	doc := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	doc.SetGroupVersionKind(resource.GroupVersionKind())
	doc.SetNamespace(resource.GetNamespace())
	doc.SetName(resource.GetName())
	return w.apply(ctx, r, with(doc, "uid", string(resource.GetUID())), request{subresources: []string{"status"}, live: resource})
}

// Metadata merges fields into the metadata of the object with that uid, at
// that resourceVersion if fields name one, and returns the object.
func (w *Writer) Metadata(ctx context.Context, r live.Resource, o metav1.Object,
	fields map[string]any) (*unstructured.Unstructured, error) {
	ctx, err := w.bar(ctx)
	if err != nil {
		return nil, err
	}
	meta := maps.Clone(fields)
	meta["uid"] = string(o.GetUID())
	body, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		return nil, err
	}
	return send(ctx, map[string]any{"metadata": meta}, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.of(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, body,
			metav1.PatchOptions{FieldManager: api.FieldManager, DryRun: w.dryRun()})
	})
}
