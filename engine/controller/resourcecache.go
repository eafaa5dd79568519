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

// A resourceCache contains what is known of the resources of a kind. Followers have it too, so that
// whoever becomes the leader need not list them first.
type resourceCache struct {
	name      string // of the CRD
	gvk       apischema.GroupVersionKind
	crdUID    types.UID
	epoch     int // how often others of them were served than before; it needs the mutex
	resources portions
	cancel    context.CancelFunc
	done      chan struct{}
}

// startListing returns the resource cache of a kind, and begins it if there is none.
func (l *resourceLists) startListing(ctx context.Context, gvk apischema.GroupVersionKind,
	crd *apiextensionsv1.CustomResourceDefinition) (*resourceCache, error) {
	l.mu.Lock()
	c := l.readState(crd.Name).cache
	l.mu.Unlock()
	if c != nil && c.gvk == gvk && c.crdUID == crd.UID {
		return c, nil
	}
	l.stopListing(crd.Name)
	c = &resourceCache{name: crd.Name, gvk: gvk, crdUID: crd.UID, done: make(chan struct{})}
	wanted := choice{Part: replicas.Everything}
	if l.dividesResources() {
		wanted.Part = l.inFlight.currentShare().Part(crd.Name)
	}
	mine := l.shardOf(crd)
	namespaces := mine.Namespaces
	if len(namespaces) == 0 || crd.Spec.Scope == apiextensionsv1.ClusterScoped {
		namespaces = []string{metav1.NamespaceAll}
	}
	gvr := gvk.GroupVersion().WithResource(crd.Spec.Names.Plural)
	for _, namespace := range namespaces {
		selection := cluster.Selection{GroupVersionResource: gvr, Namespace: namespace, Labels: mine.Selector}
		if _, err := cluster.PackedSource(l.options.Config, l.http, selection); err != nil {
			return nil, fmt.Errorf("listing kind %s: %w", crd.Name, err)
		}
		c.resources = append(c.resources, &portion{kind: crd.Name, namespace: namespace, wanted: wanted,
			told:   func() { l.names.Add(crd.Name) },
			listed: func() { l.names.Add(crd.Name); l.divided.Notify() },
			source: func() toolscache.ListerWatcher { return l.resourcesOf(selection) }})
	}
	ctx, c.cancel = context.WithCancel(ctx)
	l.mu.Lock()
	l.stateOf(crd.Name).cache = c
	l.mu.Unlock()
	go func() {
		defer close(c.done)
		c.resources.runAll(ctx)
	}()
	return c, nil
}

// resourcesOf returns where the resources of a kind come from.
func (l *resourceLists) resourcesOf(of cluster.Selection) toolscache.ListerWatcher {
	source, err := cluster.PackedSource(l.options.Config, l.http, of)
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

// stopListing ends the resource cache of a kind, if there is one.
func (l *resourceLists) stopListing(name string) {
	l.mu.Lock()
	c := l.readState(name).cache
	if c != nil {
		l.stateOf(name).cache = nil
	}
	l.mu.Unlock()
	if c != nil {
		c.cancel()
		<-c.done
	}
}

func (l *resourceLists) stopAllListing() {
	l.mu.Lock()
	names := l.kindsWhere(func(k *kindState) bool { return k.cache != nil })
	l.mu.Unlock()
	for _, name := range names {
		l.stopListing(name)
	}
}
