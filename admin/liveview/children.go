package liveview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// A found is what was listed of one kind.
type found struct {
	state live.State
	by    map[types.UID][]live.Object
}

// children are the children of the resources of a View, by kind.
type children struct {
	*View
	kinds answers[schema.GroupVersionKind, found]
}

var _ observe.Children = &children{}

// State returns what is known about a kind as a whole.
func (c *children) State(gvk schema.GroupVersionKind, _ ...string) live.State {
	return c.listOnce(gvk).state
}

// Of returns the live children of this kind that carry the owner's uid in their
// label, by namespace and name.
func (c *children) Of(gvk schema.GroupVersionKind, uid types.UID, _ ...string) ([]live.Object, error) {
	f := c.listOnce(gvk)
	if f.state.Phase != live.Synced {
		return nil, fmt.Errorf("finding children of kind %s: %w", gvk.Kind, f.state.Err)
	}
	return f.by[uid], nil
}

// RecordWrite does nothing: a survey is made once.
func (c *children) RecordWrite(schema.GroupVersionKind, *unstructured.Unstructured) {}

// Resync does nothing: a survey is made once.
func (c *children) Resync(context.Context, schema.GroupVersionKind) error { return nil }

// listOnce returns what was listed of a kind, and lists it the first time.
func (c *children) listOnce(gvk schema.GroupVersionKind) found {
	f, _ := c.kinds.get(gvk, func() (found, error) { return c.list(gvk), nil })
	return f
}

func (c *children) list(gvk schema.GroupVersionKind) found {
	r, state := c.survey.stateOf(gvk)
	if state.Phase != live.Synced {
		_ = c.addTrouble(c.survey.explainGap(c.ctx, gvk, state.Err)) // the state says it
		return found{state: state}
	}
	objects, err := c.listEverywhere(r, func(namespace string) ([]metav1.Object, error) {
		return bodyLister(c.survey.objects, r, namespace).listAll(c.ctx, metav1.ListOptions{LabelSelector: c.labelSelector()})
	})
	if err != nil {
		return found{state: live.State{Err: c.addTrouble(err)}}
	}
	f := found{state: live.State{Phase: live.Synced, Holds: live.Body}, by: map[types.UID][]live.Object{}}
	for _, o := range objects {
		uid := types.UID(o.GetLabels()[api.LabelOwnerUID])
		f.by[uid] = append(f.by[uid], objectOf(r, o))
	}
	return f
}

// labelSelector returns the selector of the children of one resource, or of those of all.
func (c *children) labelSelector() string {
	if len(c.resources) == 1 {
		return labels.Set{api.LabelOwnerUID: string(c.resources[0].GetUID())}.String()
	}
	return api.LabelOwnerUID
}

// listEverywhere lists a kind in the whole cluster. If the caller may not do so, and nothing of the
// resources can be elsewhere, it lists the namespaces where objects can be.
func (v *View) listEverywhere(r live.Resource, list func(namespace string) ([]metav1.Object, error)) ([]metav1.Object, error) {
	all, err := list("")
	if err == nil {
		return all, nil
	}
	where, bounded := v.possibleNamespaces(r)
	doing := "listing " + r.GVR.GroupResource().String()
	if !apierrors.IsForbidden(err) || !bounded {
		return nil, classifyError(doing, err)
	}
	all = nil
	for _, namespace := range where {
		some, err := list(namespace)
		if err != nil {
			return nil, classifyError(fmt.Sprintf("%s in namespace %s", doing, namespace), err)
		}
		all = append(all, some...)
	}
	v.addNote(fmt.Sprintf("%s are looked for in %s only: the caller may not list them elsewhere", r.GVR.GroupResource(),
		strings.Join(where, ", ")))
	return all, nil
}

// possibleNamespaces returns the namespaces where objects of a kind can be, by the resources and
// their folder. bounded is false if they can be anywhere.
func (v *View) possibleNamespaces(r live.Resource) (all []string, bounded bool) {
	if !r.Namespaced {
		return nil, false
	}
	for _, o := range v.resources {
		if o.GetNamespace() == "" {
			return nil, false
		}
		all = append(all, o.GetNamespace())
	}
	if v.version.Kind != nil {
		where, _ := v.version.Kind.Placement(r.GVK)
		if where.Rendered {
			return nil, false
		}
		all = append(all, where.Listed...)
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// stateOf returns the resource of a kind, and whether it can be listed at all.
func (s *Survey) stateOf(gvk schema.GroupVersionKind) (live.Resource, live.State) {
	r, served := s.served.Resource(gvk)
	if served {
		return r, live.State{Phase: live.Synced, Holds: live.Body}
	}
	if err := s.served.Unknown(gvk.Group); err != nil {
		return r, live.State{Err: err}
	}
	return r, live.State{Phase: live.NotServed, Err: live.ErrNotServed}
}
