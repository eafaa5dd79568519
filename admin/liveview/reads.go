package liveview

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
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// An asked identifies a query.
type asked struct {
	scope                     cluster.Scope
	namespace, name, selector string
}

// reads answer what templates read, and what is patched.
type reads struct {
	*View
	queries answers[asked, []live.Object]
	patched answers[schema.GroupVersionKind, map[types.UID][]live.Object]
}

var _ observe.Reads = &reads{}

// State says that everything can be asked at once.
func (r *reads) State(cluster.Scope) live.State {
	return live.State{Phase: live.Synced, Holds: live.Body}
}

// Tick is always the same: nothing changes during a survey.
func (r *reads) Tick() uint64 { return 0 }

// Record does nothing: nobody is to be woken.
func (r *reads) Record(api.Owner, []cluster.Query) {}

// RecordWrite does nothing: a survey is made once.
func (r *reads) RecordWrite(schema.GroupVersionKind, *unstructured.Unstructured) {}

// Resync does nothing: a survey is made once.
func (r *reads) Resync(context.Context, cluster.Scope) error { return nil }

// Lookup answers a query by name: the object, or nil if there is none.
func (r *reads) Lookup(q cluster.Query) (*live.Object, error) {
	found, err := r.answerQuery(q)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Select answers a query by selector, by namespace and name.
func (r *reads) Select(q cluster.Query) ([]live.Object, error) { return r.answerQuery(q) }

// answerQuery returns the objects of a query. It sends each query once.
func (r *reads) answerQuery(q cluster.Query) ([]live.Object, error) {
	key := asked{scope: q.Scope, namespace: q.Namespace, name: q.Name}
	if q.Selector != nil {
		key.selector = q.Selector.String()
	}
	all, err := r.queries.get(key, func() ([]live.Object, error) {
		resource, state := r.survey.stateOf(q.Scope.GroupVersionKind)
		if state.Phase != live.Synced {
			return nil, state.Err
		}
		client, err := r.survey.clientFor(q.Scope.As)
		if err != nil {
			return nil, err
		}
		if key.name != "" {
			return readObject(r.ctx, client, resource, key)
		}
		objects, err := bodyLister(client, resource, key.namespace).listAll(r.ctx, metav1.ListOptions{LabelSelector: key.selector})
		if err != nil {
			return nil, classifyError("listing "+resource.GVR.GroupResource().String(), err)
		}
		all := make([]live.Object, len(objects))
		for i, o := range objects {
			all[i] = objectOf(resource, o)
		}
		return all, nil
	})
	return all, r.addTrouble(err)
}

// readObject reads the object of a query by name. It returns nothing if there is none.
func readObject(ctx context.Context, client dynamic.Interface, r live.Resource, key asked) ([]live.Object, error) {
	var from dynamic.ResourceInterface = client.Resource(r.GVR)
	if r.Namespaced {
		from = client.Resource(r.GVR).Namespace(key.namespace)
	}
	o, err := from.Get(ctx, key.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, classifyError(fmt.Sprintf("reading %s %s", r.GVK.Kind, strings.TrimPrefix(key.namespace+"/"+key.name, "/")), err)
	}
	return []live.Object{objectOf(r, o)}, nil
}

// Patched returns the objects of a kind that have fields of the patch manager
// of this uid, whole.
func (r *reads) Patched(gvk schema.GroupVersionKind, uid types.UID, _ ...string) ([]live.Object, error) {
	resource, state := r.survey.stateOf(gvk)
	if state.Phase != live.Synced {
		_ = r.addTrouble(r.survey.explainGap(r.ctx, gvk, state.Err))
		return nil, state.Err
	}
	by, err := r.patched.get(gvk, func() (map[types.UID][]live.Object, error) { return r.findPatched(resource) })
	if err != nil {
		return nil, r.addTrouble(err)
	}
	var all []live.Object
	for _, l := range by[uid] {
		found, err := readObject(r.ctx, r.survey.objects, resource, asked{namespace: l.Meta.GetNamespace(), name: l.Meta.GetName()})
		if err != nil {
			return nil, r.addTrouble(err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// findPatched finds the objects of a kind that are patched, by the uid of who patches them.
func (r *reads) findPatched(resource live.Resource) (map[types.UID][]live.Object, error) {
	objects, err := r.listEverywhere(resource, func(namespace string) ([]metav1.Object, error) {
		return r.survey.metadataLister(resource, namespace).listAll(r.ctx, metav1.ListOptions{})
	})
	by := map[types.UID][]live.Object{}
	for _, o := range objects {
		seen := map[types.UID]bool{}
		for _, m := range o.GetManagedFields() {
			uid, ours := strings.CutPrefix(m.Manager, api.PatchManager(""))
			if ours && !seen[types.UID(uid)] {
				seen[types.UID(uid)] = true
				by[types.UID(uid)] = append(by[types.UID(uid)], objectOf(resource, o))
			}
		}
	}
	return by, err
}
