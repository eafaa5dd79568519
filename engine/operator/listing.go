package operator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/share"
)

// A listing is what is known of a kind's resources. Followers have it too, so
// that whoever becomes the leader need not list them first.
type listing struct {
	gvk       apischema.GroupVersionKind
	crdUID    types.UID
	resources cache.Cache
	informer  cache.Informer
	cancel    context.CancelFunc
	done      chan struct{}
}

// list returns the listing of a kind, and begins it if there is none.
func (o *Operator) list(ctx context.Context, gvk apischema.GroupVersionKind, crd *apiextensionsv1.CustomResourceDefinition) (*listing, error) {
	o.mu.Lock()
	l := o.listings[crd.Name]
	o.mu.Unlock()
	if l != nil && l.gvk == gvk && l.crdUID == crd.UID {
		return l, nil
	}
	o.unlist(crd.Name)
	mine := o.share(crd)
	resources, err := cache.New(o.options.Config, cache.Options{
		HTTPClient: o.http, Scheme: o.mgr.GetScheme(), Mapper: o.discovery.Mapper(),
		ReaderFailOnMissingInformer: true, DefaultUnsafeDisableDeepCopy: ptr.To(true),
		DefaultNamespaces: within(mine), DefaultLabelSelector: mine.Selector,
	})
	if err != nil {
		return nil, fmt.Errorf("listing kind %s: %w", crd.Name, err)
	}
	l = &listing{gvk: gvk, crdUID: crd.UID, resources: resources, done: make(chan struct{})}
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(gvk)
	if l.informer, err = resources.GetInformer(ctx, resource, cache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("listing kind %s: %w", crd.Name, err)
	}
	ctx, l.cancel = context.WithCancel(ctx)
	o.mu.Lock()
	o.listings[crd.Name] = l
	o.mu.Unlock()
	go func() {
		defer close(l.done)
		if err := resources.Start(ctx); err != nil {
			log.FromContext(ctx).Error(err, "cache ended", "kind", crd.Name)
		}
	}()
	return l, nil
}

// within are the namespaces that resources are served in; nil means all.
func within(mine share.Share) map[string]cache.Config {
	if len(mine.Namespaces) == 0 {
		return nil
	}
	all := map[string]cache.Config{}
	for _, namespace := range mine.Namespaces {
		all[namespace] = cache.Config{}
	}
	return all
}

// unlist ends the listing of a kind, if there is one.
func (o *Operator) unlist(name string) {
	o.mu.Lock()
	l := o.listings[name]
	delete(o.listings, name)
	o.mu.Unlock()
	if l != nil {
		l.cancel()
		<-l.done
	}
}

func (o *Operator) unlistAll() {
	o.mu.Lock()
	names := slices.Collect(maps.Keys(o.listings))
	o.mu.Unlock()
	for _, name := range names {
		o.unlist(name)
	}
}

// standBy keeps what the leader needs of a kind at hand, in case this operator
// becomes the leader: its resources, and what its folder makes and reads.
func (o *Operator) standBy(ctx context.Context, v *reconcile.Version, gvk apischema.GroupVersionKind, crd *apiextensionsv1.CustomResourceDefinition) error {
	mine, claims := o.share(crd), share.Claims(crd)
	if mine.Conflict(claims) != nil || v.Removed && !mine.Holds(claims) {
		o.stop(v.Name)
		return nil
	}
	if _, served := o.discovery.Served().Resource(gvk); !served {
		o.discovery.Poke() // followDiscovery settles again
		return nil
	}
	o.stoodBy.Store(true)
	o.children.Want(v.Name, v.Children)
	o.reads.Want(v.Name, v.Scopes())
	_, err := o.list(ctx, gvk, crd)
	return err
}
