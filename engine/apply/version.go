package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// otherVersion reports whether the server cannot apply because somebody's entry in
// managedFields is in a version of the API that lacks a field which the object
// has by now, such as one with a default: it shows the object in each entry's
// version, and stumbles. What is wrong with the document itself it says in other
// words.
func otherVersion(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Cause == TryAgain && strings.Contains(refusal.Text, "field not declared in schema")
}

// unshown is what a dry run says of such an object: it cannot show two writes of
// which one builds on the other.
func unshown(err error) error {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	said := *refusal
	said.Text = "a dry run cannot show it, since entries of its managedFields are in another version of the API: the operator puts them into this one first"
	said.Fields = nil
	return &said
}

// migrate lets all entries in managedFields of the object that the document is to
// be applied to be in the document's version. One that is left in another keeps
// everybody from applying, so those of others go along; whose the fields are stays
// as it is. Of another object than the document's nothing is changed.
//
// Since Kubernetes 1.37 a patch of a subresource changes no entry, so the object
// itself is patched. Who may patch the subresource alone tries that.
func (w *Writer) migrate(ctx context.Context, r live.Resource, doc *unstructured.Unstructured, how request) error {
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
	var changes []map[string]any
	for i, entry := range current.GetManagedFields() {
		if entry.APIVersion != doc.GetAPIVersion() {
			changes = append(changes, map[string]any{"op": "replace", "path": fmt.Sprintf("/metadata/managedFields/%d/apiVersion", i),
				"value": doc.GetAPIVersion()})
		}
	}
	if len(changes) == 0 || doc.GetUID() != current.GetUID() {
		return errors.New("no entry of managedFields is in another version")
	}
	_, err := w.entries(ctx, r, current, edit{changes: changes})
	if refusal := (*Refusal)(nil); len(how.subresources) > 0 && errors.As(err, &refusal) && refusal.Cause == Forbidden {
		_, err = w.entries(ctx, r, current, edit{changes, how.subresources})
	}
	return err
}
