package apply

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

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
	ctx, err := w.bar(ctx)
	if err != nil {
		return nil, err
	}
	// A test that fails would be answered as if the content were invalid. Another
	// resourceVersion is a conflict.
	changes := []map[string]any{{"op": "add", "path": "/metadata/resourceVersion", "value": read.GetResourceVersion()}}
	if to.Object != nil {
		changes = append(changes, contentChanges(read.Object, to.Object)...)
	}
	if to.Managed != nil && !w.dry {
		changes = append(changes, map[string]any{"op": "add", "path": "/metadata/managedFields", "value": to.Managed})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, err
	}
	return send(ctx, to.Document, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.of(r, read.GetNamespace()).Patch(ctx, read.GetName(), types.JSONPatchType, patch,
			metav1.PatchOptions{FieldManager: api.FieldManager, DryRun: w.dryRun()})
	})
}

// contentChanges are the operations of a JSON patch that turn one object into another,
// but for its identity and its status.
func contentChanges(from, to map[string]any) []map[string]any {
	var changes []map[string]any
	change := func(prefix, name string, old, now map[string]any) {
		path := prefix + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		value, found := now[name]
		_, had := old[name]
		switch {
		case found && !reflect.DeepEqual(value, old[name]):
			changes = append(changes, map[string]any{"op": "add", "path": path, "value": value})
		case !found && had:
			changes = append(changes, map[string]any{"op": "remove", "path": path})
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
