package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A portion is a kind's resources in one namespace, or in all. Each has a cache of
// its own, so that a namespace which is gone, or in which the operator has no
// rights any more, keeps nobody from the others.
type portion struct {
	namespace string // "": all
	ctrlcache.Cache
	informer ctrlcache.Informer
	trouble  atomic.Pointer[trouble]
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

var _ client.Reader = portions{}

// Get returns a resource. What is in a namespace that is not served is not found,
// and what is not known is an error.
func (all portions) Get(ctx context.Context, name client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	for _, p := range all {
		switch {
		case p.namespace != "" && p.namespace != name.Namespace:
		case !p.informer.HasSynced():
			return errors.New("they have not been listed yet")
		default:
			return p.Cache.Get(ctx, name, into, opts...)
		}
	}
	gvk := into.GetObjectKind().GroupVersionKind()
	return apierrors.NewNotFound(apischema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, name.Name)
}

// List returns the resources that are known.
func (all portions) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	list, ok := into.(*unstructured.UnstructuredList)
	if !ok {
		return fmt.Errorf("listing resources: into a %T", into)
	}
	for _, p := range all {
		if !p.informer.HasSynced() {
			continue
		}
		some := &unstructured.UnstructuredList{}
		some.SetGroupVersionKind(list.GroupVersionKind())
		if err := p.Cache.List(ctx, some, opts...); err != nil {
			return err
		}
		list.Items = append(list.Items, some.Items...)
	}
	return nil
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

// begin starts the caches until ctx ends; told is called when a trouble came or
// went.
func (all portions) begin(ctx context.Context, told func()) error {
	ends := make(chan error, len(all))
	for _, p := range all {
		go func() { ends <- p.Start(ctx) }()
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), p.informer.HasSynced) {
				p.trouble.Store(nil)
				told()
			}
		}()
	}
	var errs []error
	for range all {
		errs = append(errs, <-ends)
	}
	return errors.Join(errs...)
}
