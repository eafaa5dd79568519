package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

var errIncomplete = fmt.Errorf("%w: they were seen before their owner, and are being read again", live.ErrNotYet)

// checkComplete returns an error while some of an owner's children are stubs, and then a function
// that completes them. The caller must hold the mutex.
func (o *childPolicy) checkComplete(k *kind, uid types.UID, found []live.Object) (complete func(), err error) {
	if !slices.ContainsFunc(found, isStub) {
		return nil, nil
	}
	why, runs := o.completing[uid]
	if why == nil {
		why = errIncomplete
	}
	if runs {
		return nil, why
	}
	o.completing[uid] = nil
	return func() { o.completeStubs(o.children.ctx, k, uid) }, why
}

// completeStubs reads an owner's children again until none of them is a stub, or ctx ends, and then
// notifies the owner.
func (o *childPolicy) completeStubs(ctx context.Context, k *kind, uid types.UID) {
	for pauses := backOff(); ctx.Err() == nil; waitFor(ctx, pauses.Step()) {
		k.mu.Lock()
		in := map[string]bool{} // namespaces with stubs
		for _, l := range k.findObjects(group{uid: uid}, isStub) {
			in[l.Meta.GetNamespace()] = true
		}
		if len(in) == 0 {
			delete(o.completing, uid)
			k.mu.Unlock()
			o.notifyOwner(owner{uid: uid})
			return
		}
		stores := k.current.stores
		k.mu.Unlock()
		var err error
		for namespace := range in {
			err = cmp.Or(err, o.readAgain(ctx, stores, namespace, uid))
		}
		k.mu.Lock()
		changed := errorText(o.completing[uid]) != errorText(err)
		o.completing[uid] = err
		k.mu.Unlock()
		if changed {
			o.notifyOwner(owner{uid: uid})
		}
		if err == nil {
			pauses = backOff()
		}
	}
}

// readAgain takes an owner's children in a namespace as the server has them now: in one, as
// a list of all namespaces costs the server a look at every child of the kind. One that
// changed since the watch delivered it comes by the watch.
func (o *childPolicy) readAgain(ctx context.Context, stores []*store, namespace string, uid types.UID) error {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	opts := metav1.ListOptions{LabelSelector: labels.Set{api.LabelOwnerUID: string(uid)}.String()}
	for _, s := range stores {
		if s.namespace != "" && s.namespace != namespace {
			continue
		}
		k := s.watch.kind
		list, err := k.clients.list(ctx, s, namespace, opts)
		if err != nil {
			return fmt.Errorf("reading children of kind %s again: %w", k.scope.Kind, steadyError(err))
		}
		s.watch.deliverChange(func(told *notifications) {
			err = meta.EachListItem(list, func(object runtime.Object) error {
				l, err := live.Of(k.scope.GroupVersionKind, object)
				if err != nil {
					return err
				}
				if old, had := s.items[l.Key()]; had && isStub(old) && old.Same(l) {
					s.putObject(withoutForeign(l.Cut(s.watch.need), s.watch.need))
					told.addChange(Change{After: l})
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
