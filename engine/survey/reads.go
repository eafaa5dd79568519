package survey

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// An asked identifies a query.
type asked struct {
	scope                     observe.Scope
	namespace, name, selector string
}

// reads answer what templates read, and what is patched.
type reads struct {
	*View
	queries answers[asked, []observe.Live]
	patched answers[schema.GroupVersionKind, map[types.UID][]observe.Live]
}

var _ reconcile.Reads = &reads{}

// State says that everything can be asked at once.
func (r *reads) State(observe.Scope) observe.State {
	return observe.State{Phase: observe.Synced, Holds: observe.Body}
}

// Tick is always the same: nothing changes during a survey.
func (r *reads) Tick() uint64 { return 0 }

// Record does nothing: nobody is to be woken.
func (r *reads) Record(api.Owner, []observe.Query) {}

// Note does nothing: a survey is made once.
func (r *reads) Note(schema.GroupVersionKind, *unstructured.Unstructured) {}

// Look does nothing: a survey is made once.
func (r *reads) Look(context.Context, observe.Scope) error { return nil }

// Lookup answers a query by name: the object, or nil if there is none.
func (r *reads) Lookup(q observe.Query) (*observe.Live, error) {
	found, err := r.ask(q)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Select answers a query by selector, by namespace and name.
func (r *reads) Select(q observe.Query) ([]observe.Live, error) { return r.ask(q) }

func (r *reads) ask(q observe.Query) ([]observe.Live, error) {
	key := asked{scope: q.Scope, namespace: q.Namespace, name: q.Name}
	if q.Selector != nil {
		key.selector = q.Selector.String()
	}
	all, err := r.queries.get(key, func() ([]observe.Live, error) {
		resource, state := r.survey.state(q.Scope.GroupVersionKind)
		if state.Phase != observe.Synced {
			return nil, state.Err
		}
		client, err := r.survey.as(q.Scope.As)
		if err != nil {
			return nil, err
		}
		if key.name != "" {
			return lookup(r.ctx, client, resource, key)
		}
		objects, err := bodies(client, resource, key.namespace).all(r.ctx, metav1.ListOptions{LabelSelector: key.selector})
		if err != nil {
			return nil, refused("listing "+resource.GVR.GroupResource().String(), err)
		}
		all := make([]observe.Live, len(objects))
		for i, o := range objects {
			all[i] = live(resource, o)
		}
		return all, nil
	})
	return all, r.trouble(err)
}

func lookup(ctx context.Context, client dynamic.Interface, r observe.Resource, key asked) ([]observe.Live, error) {
	var from dynamic.ResourceInterface = client.Resource(r.GVR)
	if r.Namespaced {
		from = client.Resource(r.GVR).Namespace(key.namespace)
	}
	o, err := from.Get(ctx, key.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refused(fmt.Sprintf("reading %s %s", r.GVK.Kind, strings.TrimPrefix(key.namespace+"/"+key.name, "/")), err)
	}
	return []observe.Live{live(r, o)}, nil
}

// Patched returns the objects of a kind that have fields of the patch manager
// of this uid, whole.
func (r *reads) Patched(gvk schema.GroupVersionKind, uid types.UID) ([]observe.Live, error) {
	resource, state := r.survey.state(gvk)
	if state.Phase != observe.Synced {
		_ = r.trouble(r.survey.gap(r.ctx, gvk, state.Err))
		return nil, state.Err
	}
	by, err := r.patched.get(gvk, func() (map[types.UID][]observe.Live, error) { return r.patchers(resource) })
	if err != nil {
		return nil, r.trouble(err)
	}
	var all []observe.Live
	for _, l := range by[uid] {
		found, err := lookup(r.ctx, r.survey.objects, resource, asked{namespace: l.Meta.GetNamespace(), name: l.Meta.GetName()})
		if err != nil {
			return nil, r.trouble(err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// patchers finds the objects of a kind that are patched, by whom.
func (r *reads) patchers(resource observe.Resource) (map[types.UID][]observe.Live, error) {
	objects, err := r.everywhere(resource, func(namespace string) ([]metav1.Object, error) {
		return r.survey.partials(resource, namespace).all(r.ctx, metav1.ListOptions{})
	})
	by := map[types.UID][]observe.Live{}
	for _, o := range objects {
		seen := map[types.UID]bool{}
		for _, m := range o.GetManagedFields() {
			uid, ours := strings.CutPrefix(m.Manager, api.PatchManager(""))
			if ours && !seen[types.UID(uid)] {
				seen[types.UID(uid)] = true
				by[types.UID(uid)] = append(by[types.UID(uid)], live(resource, o))
			}
		}
	}
	return by, err
}
