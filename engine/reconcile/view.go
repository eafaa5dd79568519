package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/template"
)

// A view is what is known of a resource's children at one moment. It is the
// template.World of its templates.
type view struct {
	served *observe.Served
	owner  plan.Owner
	live   []observe.Live
	state  map[schema.GroupVersionKind]observe.State
	kind   *kind.Kind
	// pending: some kind has not been listed yet, or not with what is needed.
	pending bool
}

// look takes a view. Live objects of a kind that is not synced are left out,
// since there may be others.
func (r *Reconciler) look(v *Version, resource *unstructured.Unstructured) *view {
	w := &view{served: r.cluster.Served(), kind: v.Kind, state: map[schema.GroupVersionKind]observe.State{}}
	w.owner = (&turn{Reconciler: r, resource: resource}).owner()
	w.pending = v.Pending(r.cluster.Children)
	for gvk := range v.Children {
		state := r.cluster.Children.State(gvk)
		w.state[gvk] = state
		if state.Phase != observe.Synced {
			continue
		}
		live, _ := r.cluster.Children.Of(gvk, resource.GetUID())
		w.live = append(w.live, live...)
	}
	return w
}

// Pending says whether some kind of child has not been listed yet, or not with
// as much as is needed, and nothing is known to be in the way: observe then
// tells when it has been.
func (v *Version) Pending(children *observe.Children) bool {
	for gvk, need := range v.Children {
		s := children.State(gvk)
		if s.Phase == observe.Unsynced && s.Err == nil || s.Phase == observe.Synced && s.Holds < need {
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
	for _, gvk := range w.kind.Makes(file) {
		if w.state[gvk].Phase == observe.Unsynced {
			return nil, &template.Wait{Message: fmt.Sprintf("the live objects of kind %s are not known", gvk.Kind)}
		}
	}
	var out []any
	for _, l := range w.live {
		if l.Meta.GetAnnotations()[api.AnnotationFile] == file && plan.Ours(w.owner, l.Meta) {
			out = append(out, body(l))
		}
	}
	slices.SortFunc(out, newestFirst)
	return out, nil
}

// body is the object as templates read it.
func body(l observe.Live) map[string]any {
	if l.Body != nil {
		return l.Body
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
	return object
}

func newestFirst(a, b any) int {
	x, y := unstructured.Unstructured{Object: a.(map[string]any)}, unstructured.Unstructured{Object: b.(map[string]any)}
	if c := y.GetCreationTimestamp().Compare(x.GetCreationTimestamp().Time); c != 0 {
		return c
	}
	return strings.Compare(x.GetName(), y.GetName())
}

// Await returns the newest child that a file made, and what it waits for.
func (w *view) Await(string) (child any, waits string, err error) { return nil, "", errNotYet }

// Lookup returns one live object.
func (w *view) Lookup(template.Object) (any, error) { return nil, errNotYet }

// Select returns the live objects that match.
func (w *view) Select(template.Object, labels.Selector) ([]any, error) { return nil, errNotYet }

// Config returns a setting of the installation.
func (w *view) Config(string) (any, error) { return nil, errNotYet }

// Stable returns a text that is drawn once.
func (w *view) Stable(string, string, int) (string, error) { return "", errNotYet }

var errNotYet = errors.New("it cannot be read yet")
