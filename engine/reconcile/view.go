package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A view is what is known of a resource's children, and of what else its
// templates read, at one moment. It is the template.World of its templates.
type view struct {
	*turn
	served *observe.Served
	live   []observe.Live
	state  map[schema.GroupVersionKind]observe.State
	// patched are the objects that have fields of ours; patchedErr is why there
	// may be others.
	patched    []observe.Live
	patchedErr error
	// since is when the view was taken, for those who tell what changes.
	since uint64
	// pending: some kind has not been listed yet, or not with what is needed.
	pending bool
	// undrawn are the lengths of texts that are still to be drawn.
	undrawn map[secretKey]int
	// awaited are files whose child was found ready, stale why that does not
	// count.
	awaited map[string]bool
	stale   map[string]string
}

// look takes a view. Live objects of a kind that is not synced are left out,
// since there may be others.
func (t *turn) look() *view {
	w := &view{
		turn: t, served: t.cluster.Served(), state: map[schema.GroupVersionKind]observe.State{},
		undrawn: map[secretKey]int{},
		awaited: map[string]bool{}, stale: map[string]string{}, since: t.cluster.Reads.Tick(),
	}
	w.pending = t.version.Pending(t.cluster)
	uid := t.resource.GetUID()
	for gvk := range t.version.Children {
		state := t.cluster.Children.State(gvk)
		w.state[gvk] = state
		if state.Phase != observe.Synced {
			continue
		}
		live, _ := t.cluster.Children.Of(gvk, uid)
		w.live = append(w.live, live...)
	}
	for _, gvk := range t.version.Patched {
		patched, err := t.cluster.Reads.Patched(gvk, uid)
		if err != nil && (!errors.Is(err, observe.ErrNotServed) || t.cluster.Defined(gvk.GroupKind())) {
			w.patchedErr = err
		}
		w.patched = append(w.patched, patched...)
	}
	return w
}

// unknown reports, for a resource that goes, what is not known of it: there may
// be something left.
func (w *view) unknown(found *findings) {
	for gvk, state := range w.state {
		if state.Phase == observe.NotServed && !w.cluster.Defined(gvk.GroupKind()) {
			continue // it took its objects along
		}
		if state.Phase != observe.Synced || state.Err != nil {
			found.unknown(fmt.Sprintf("what is left of kind %s is not known: %v", gvk.Kind, state.Err))
		}
	}
	if w.patchedErr != nil {
		found.unknown("what is patched is not known: " + w.patchedErr.Error())
	}
}

// Pending says whether some kind of child, or of what is patched or read, has
// not been listed yet, or not with as much as is needed, and nothing is known to
// be in the way: observe then tells when it has been.
func (v *Version) Pending(cluster Cluster) bool {
	for gvk, need := range v.Children {
		s := cluster.Children.State(gvk)
		if s.Coming() || s.Phase == observe.Synced && s.Holds < need {
			return true
		}
	}
	for _, scope := range v.Scopes() {
		if cluster.Reads.State(scope).Coming() {
			return true
		}
	}
	return false
}

// known returns the state of a kind; one that nobody watches is unknown.
func (w *view) known(gvk schema.GroupVersionKind) observe.State { return w.state[gvk] }

// HasAPI says whether the cluster serves a kind; while that cannot be told,
// the file waits.
func (w *view) HasAPI(apiVersion, kind string) (bool, error) {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return false, fmt.Errorf("hasAPI: %w", err)
	}
	if _, found := w.served.Resource(gv.WithKind(kind)); found {
		return true, nil
	}
	if w.served.Unknown(gv.Group) != nil {
		return false, &template.Wait{Message: fmt.Sprintf("the API server cannot tell whether it has %s %s", apiVersion, kind)}
	}
	return false, nil
}

// Children returns the live children that a file made, newest first, then by
// name.
func (w *view) Children(file string) ([]any, error) {
	for _, gvk := range w.version.Kind.Makes(file) {
		if w.state[gvk].Phase == observe.Unsynced {
			return nil, &template.Wait{Message: fmt.Sprintf("the live objects of kind %s are not known", gvk.Kind)}
		}
	}
	var out []any
	for _, l := range w.live {
		if l.Meta.GetAnnotations()[api.AnnotationFile] == file && plan.Ours(w.owner(), l.Meta) {
			out = append(out, body(l))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// body is the object as templates read it.
func body(l observe.Live) map[string]any {
	if l.Body != nil {
		return plain(l.Body)
	}
	partial, ok := l.Meta.(*metav1.PartialObjectMetadata)
	if !ok {
		return map[string]any{}
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(partial)
	if err != nil {
		return map[string]any{}
	}
	object["apiVersion"], object["kind"] = l.GVK.GroupVersion().String(), l.GVK.Kind
	return plain(object)
}

// plain is an object without what tools keep in its metadata.
func plain(object map[string]any) map[string]any {
	out := maps.Clone(object)
	meta, _ := object["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	delete(meta, "managedFields")
	if annotations, ok := meta["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		meta["annotations"] = annotations
	}
	out["metadata"] = meta
	return out
}

func newestFirst(a, b any) int {
	x, y := unstructured.Unstructured{Object: a.(map[string]any)}, unstructured.Unstructured{Object: b.(map[string]any)}
	if c := y.GetCreationTimestamp().Compare(x.GetCreationTimestamp().Time); c != 0 {
		return c
	}
	return strings.Compare(x.GetName(), y.GetName())
}
