package controller

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// A resource cache is what is known of a kind's resources. Followers have it too, so
// that whoever becomes the leader need not list them first.
type resourceCache struct {
	name      string // of the CRD
	gvk       apischema.GroupVersionKind
	crdUID    types.UID
	epoch     int // how often others of them were served than before; it needs the mutex
	resources portions
	cancel    context.CancelFunc
	done      chan struct{}
}

// list returns the resource cache of a kind, and begins it if there is none.
func (o *Operator) list(ctx context.Context, gvk apischema.GroupVersionKind,
	crd *apiextensionsv1.CustomResourceDefinition) (*resourceCache, error) {
	o.mu.Lock()
	l := o.seen(crd.Name).cache
	o.mu.Unlock()
	if l != nil && l.gvk == gvk && l.crdUID == crd.UID {
		return l, nil
	}
	o.unlist(crd.Name)
	l = &resourceCache{name: crd.Name, gvk: gvk, crdUID: crd.UID, done: make(chan struct{})}
	wanted := choice{Part: replicas.Everything}
	if o.dividesResources() {
		wanted.Part = o.inFlight.currentShare().Part(crd.Name)
	}
	mine := o.shardOf(crd)
	namespaces := mine.Namespaces
	if len(namespaces) == 0 || crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		namespaces = []string{metav1.NamespaceAll}
	}
	gvr := gvk.GroupVersion().WithResource(crd.Spec.Names.Plural)
	for _, namespace := range namespaces {
		selection := cluster.Selection{GroupVersionResource: gvr, Namespace: namespace, Labels: mine.Selector}
		if _, err := cluster.PackedSource(o.options.Config, o.http, selection); err != nil {
			return nil, fmt.Errorf("listing kind %s: %w", crd.Name, err)
		}
		l.resources = append(l.resources, &portion{kind: crd.Name, namespace: namespace, wanted: wanted, told: func() { o.recount(crd.Name) },
			listed: o.shareChanged, source: func() toolscache.ListerWatcher { return o.resourcesOf(selection) }})
	}
	ctx, l.cancel = context.WithCancel(ctx)
	o.mu.Lock()
	o.state(crd.Name).cache = l
	o.mu.Unlock()
	go func() {
		defer close(l.done)
		l.resources.begin(ctx)
	}()
	return l, nil
}

// resourcesOf returns where the resources of a kind come from.
func (o *Operator) resourcesOf(of cluster.Selection) toolscache.ListerWatcher {
	source, err := cluster.PackedSource(o.options.Config, o.http, of)
	if err != nil { // list has made one of the same access
		panic(err)
	}
	return cluster.HeedRestores(source)
}

// newRestoreInformer returns an informer that lists again after etcd was restored.
func newRestoreInformer(of toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
	by toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(cluster.InformerSource(of), example, resync, by)
}

// recount says in metrics what of a kind cannot be watched.
func (o *Operator) recount(name string) {
	if r := o.kindController(name); r != nil {
		o.countUnwatched(r)
	}
}

// unlist ends the resource cache of a kind, if there is one.
func (o *Operator) unlist(name string) {
	o.mu.Lock()
	l := o.seen(name).cache
	if l != nil {
		o.state(name).cache = nil
	}
	o.mu.Unlock()
	if l != nil {
		l.cancel()
		<-l.done
	}
}

func (o *Operator) unlistAll() {
	o.mu.Lock()
	names := o.those(func(k *kindState) bool { return k.cache != nil })
	o.mu.Unlock()
	for _, name := range names {
		o.unlist(name)
	}
}

// standBy keeps what the leader needs of a kind at hand, in case this operator
// becomes the leader: its resources, and what its versions make and read.
func (o *Operator) standBy(ctx context.Context, p *kindPass, versions []servedVersion, gvk apischema.GroupVersionKind) error {
	var all versionList
	for _, s := range versions {
		if s.version != nil {
			all = append(all, s.version)
		}
	}
	o.stoodBy.Store(true)
	o.children.Want(p.name, all.childKinds())
	o.reads.Want(p.name, all.readScopes())
	_, err := o.list(ctx, gvk, p.definition)
	return err
}
