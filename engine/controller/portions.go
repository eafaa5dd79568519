package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A portion is a kind's resources in one namespace, or in all. Each has a cache of
// its own, so that a namespace which is gone, or in which the operator has no
// rights any more, keeps nobody from the others.
type portion struct {
	namespace string                    // "": all
	informer  cache.SharedIndexInformer // of live.Packed
	trouble   atomic.Pointer[trouble]
}

// A trouble is why resources could not be listed or watched, and when.
type trouble struct {
	err error
	at  time.Time
}

// fresh is how long a trouble counts that did not come again: a cache tries again
// at least every half a minute.
const fresh = 2 * time.Minute

// failed notes a trouble.
func (p *portion) failed(err error) { p.trouble.Store(&trouble{err, time.Now()}) }

// forbidden reports whether the resources may not be listed as far as is known.
func (p *portion) forbidden() bool {
	t := p.trouble.Load()
	return t != nil && apierrors.IsForbidden(t.err) && (!p.informer.HasSynced() || time.Since(t.at) < fresh)
}

// portions are a kind's resources, as far as they are known.
type portions []*portion

var _ reconcile.Resources = portions{}

// Get returns a resource, decoded anew. What is in a namespace that is not served is
// not found, and what is not known is an error.
func (all portions) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	resource, ok := into.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("reading a resource: into a %T", into)
	}
	o, err := all.find(name)
	if err != nil {
		return err
	}
	if o == nil {
		gvk := into.GetObjectKind().GroupVersionKind()
		return apierrors.NewNotFound(apischema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, name.Name)
	}
	unpacked, err := o.Unpack()
	if err == nil {
		resource.Object = unpacked.Object
	}
	return err
}

// find returns a resource as the cache has it, nil if there is none of that name. The
// error says that it is not known.
func (all portions) find(name client.ObjectKey) (*live.Packed, error) {
	for _, p := range all {
		switch {
		case p.namespace != "" && p.namespace != name.Namespace:
		case !p.informer.HasSynced():
			return nil, errors.New("they have not been listed yet")
		default:
			o, found, err := p.informer.GetStore().GetByKey(cache.NewObjectName(name.Namespace, name.Name).String())
			if !found || err != nil {
				return nil, err
			}
			return o.(*live.Packed), nil // nothing else is put there
		}
	}
	return nil, nil
}

// all returns the resources that are known.
func (all portions) all() (known []*live.Packed) {
	for _, p := range all {
		if !p.informer.HasSynced() {
			continue
		}
		for _, o := range p.informer.GetStore().List() {
			known = append(known, o.(*live.Packed)) // as above
		}
	}
	return known
}

// listed reports whether the resources are known, but for those in namespaces in
// which they may not be listed.
func (all portions) listed() bool {
	some := false
	for _, p := range all {
		if !p.informer.HasSynced() && !p.forbidden() {
			return false
		}
		some = some || p.informer.HasSynced()
	}
	return some
}

// troubles says in which namespaces the resources may not be listed, and why.
func (all portions) troubles() (text string, n int) {
	var texts []string
	for _, p := range all {
		if !p.forbidden() {
			continue
		}
		where := "resources"
		if p.namespace != "" {
			where += " in namespace " + p.namespace
		}
		texts = append(texts, where+" cannot be listed: "+p.trouble.Load().err.Error())
	}
	return strings.Join(texts, "; "), len(texts)
}

// begin runs the informers until ctx ends; told is called when a trouble came or
// went.
func (all portions) begin(ctx context.Context, told func()) {
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() { p.informer.RunWithContext(ctx) })
		running.Go(func() {
			if cache.WaitForCacheSync(ctx.Done(), p.informer.HasSynced) {
				p.trouble.Store(nil)
				told()
			}
		})
	}
	running.Wait()
}
