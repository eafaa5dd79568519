package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/refusals"
)

// An operation is one operation of a JSON patch.
type operation map[string]any

func newOperation(op, path string, value any) operation {
	return operation{"op": op, "path": path, "value": value}
}

// SetEntries changes the managedFields of an object, if it is still at that resourceVersion.
func (w *Writer) SetEntries(ctx context.Context, r live.Resource, o metav1.Object,
	managed []metav1.ManagedFieldsEntry) (*unstructured.Unstructured, error) {
	if len(managed) == 0 { // an empty list would be as none given
		managed = []metav1.ManagedFieldsEntry{{}}
	}
	return w.editEntries(ctx, r, o, []operation{newOperation("replace", "/metadata/managedFields", managed)})
}

// editEntries changes entries of managedFields, if the object is still at that resourceVersion.
func (w *Writer) editEntries(ctx context.Context, r live.Resource, o metav1.Object, changes []operation,
	subresources ...string) (*unstructured.Unstructured, error) {
	ctx, err := w.checkGate(ctx)
	if err != nil {
		return nil, err
	}
	if answer, _ := o.(*unstructured.Unstructured); w.isDry { // to a dry run: the server's entries are not the same
		return answer, nil
	}
	patch, err := json.Marshal(append([]operation{newOperation("test", "/metadata/resourceVersion", o.GetResourceVersion())}, changes...))
	if err != nil {
		return nil, err
	}
	return sendRequest(ctx, nil, func(ctx context.Context) (*unstructured.Unstructured, error) {
		answer, err := w.objectsOf(r, o.GetNamespace()).Patch(ctx, o.GetName(), types.JSONPatchType, patch, w.patchOptions(), subresources...)
		if apierrors.IsInvalid(err) {
			// A test that fails is answered as if the patch were at fault.
			return nil, apierrors.NewConflict(r.GVR.GroupResource(), o.GetName(), errors.New("it changed meanwhile"))
		}
		return answer, err
	})
}

// A Replacement is what an object becomes in one write.
type Replacement struct {
	// Object has the content; nil leaves it as it is.
	Object map[string]any
	// Managed are the entries of managedFields; nil leaves them as they are.
	Managed []metav1.ManagedFieldsEntry
	// Document is what the content was made for: its values are not in any message.
	Document map[string]any
}

// Replace makes an object what to says, if it is still as it was read. Of the metadata
// only labels, annotations and managedFields change.
func (w *Writer) Replace(ctx context.Context, r live.Resource, read *unstructured.Unstructured, to Replacement) (
	*unstructured.Unstructured, error,
) {
	ctx, err := w.checkGate(ctx)
	if err != nil {
		return nil, err
	}
	// A test that fails would be answered as if the content were invalid. Another
	// resourceVersion is a conflict.
	changes := []operation{newOperation("add", "/metadata/resourceVersion", read.GetResourceVersion())}
	if to.Object != nil {
		changes = append(changes, contentChanges(read.Object, to.Object)...)
	}
	if to.Managed != nil && !w.isDry {
		changes = append(changes, newOperation("add", "/metadata/managedFields", to.Managed))
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, err
	}
	return sendRequest(ctx, to.Document, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.objectsOf(r, read.GetNamespace()).Patch(ctx, read.GetName(), types.JSONPatchType, patch, w.patchOptions())
	})
}

// contentChanges returns the operations that turn one object into another, but for its identity
// and its status.
func contentChanges(from, to map[string]any) (changes []operation) {
	change := func(prefix, name string, old, now map[string]any) {
		path := prefix + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		value, found := now[name]
		_, had := old[name]
		switch {
		case found && !reflect.DeepEqual(value, old[name]):
			changes = append(changes, newOperation("add", path, value))
		case !found && had:
			changes = append(changes, operation{"op": "remove", "path": path})
		}
	}
	names := maps.Clone(from)
	maps.Copy(names, to)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			change("", name, from, to)
		}
	}
	old, _ := from["metadata"].(map[string]any)
	now, _ := to["metadata"].(map[string]any)
	change("/metadata", "labels", old, now)
	change("/metadata", "annotations", old, now)
	return changes
}

// isOtherVersion reports whether the server cannot apply because somebody's entry in
// managedFields is in a version of the API that lacks a field which the object
// has by now, such as one with a default: it shows the object in each entry's
// version, and stumbles. What is wrong with the document itself it says in other
// words.
func isOtherVersion(err error) bool {
	var refusal *refusals.Refusal
	return errors.As(err, &refusal) && refusal.Cause == refusals.TryAgain && strings.Contains(refusal.Text, "field not declared in schema")
}

// explainOtherVersion returns what a dry run says of such an object: it cannot show two writes of
// which one builds on the other.
func explainOtherVersion(err error) error {
	said := *refusals.Classify(err)
	said.Text = "a dry run cannot show it, since entries of its managedFields are in another version of the API: the operator puts them into this one first"
	said.Fields = nil
	return &said
}

// migrateEntries changes all entries in managedFields of the object that the document is to
// be applied to into the document's version. One that is left in another keeps
// everybody from applying, so those of others are changed too; whose the fields are stays
// as it is. Of another object than the document's nothing is changed.
//
// Since Kubernetes 1.37 a patch of a subresource changes no entry, so the object
// itself is patched. Who may patch the subresource alone tries that.
func (w *Writer) migrateEntries(ctx context.Context, r live.Resource, doc *unstructured.Unstructured, how request) error {
	current := how.live
	if current == nil {
		find := w.GetMetadata
		if how.gentle { // a patch: there is no right to get
			find = w.Find
		}
		found, err := find(ctx, r, doc.GetNamespace(), doc.GetName())
		if err != nil {
			return err
		}
		if found == nil {
			return errors.New("the object is gone")
		}
		current = found
	}
	var changes []operation
	for i, entry := range current.GetManagedFields() {
		if entry.APIVersion != doc.GetAPIVersion() {
			changes = append(changes, newOperation("replace", fmt.Sprintf("/metadata/managedFields/%d/apiVersion", i), doc.GetAPIVersion()))
		}
	}
	if len(changes) == 0 || doc.GetUID() != current.GetUID() {
		return errors.New("no entry of managedFields is in another version")
	}
	_, err := w.editEntries(ctx, r, current, changes)
	if len(how.subresources) > 0 && err != nil && refusals.Classify(err).Cause == refusals.Forbidden {
		_, err = w.editEntries(ctx, r, current, changes, how.subresources...)
	}
	return err
}
