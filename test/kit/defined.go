package kit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// defined are the CRDs of the cluster, as the admin sees them.
type defined struct {
	mu     sync.Mutex
	crds   map[string]*apiextensionsv1.CustomResourceDefinition
	reader client.Client
	// changes counts the changes that rights may depend on.
	changes  atomic.Int64
	unfollow context.CancelFunc
}

// watchCRDs watches the CRDs.
func (c *Cluster) watchCRDs() error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	var err error
	if c.reader, err = client.New(c.Config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	c.crds = map[string]*apiextensionsv1.CustomResourceDefinition{}
	all, err := ctrlcache.New(c.Config, ctrlcache.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var ctx context.Context
	ctx, c.unfollow = context.WithCancel(context.Background())
	go all.Start(ctx) //nolint:errcheck // it ends with the cluster
	informer, err := all.GetInformer(ctx, &apiextensionsv1.CustomResourceDefinition{})
	if err != nil {
		return err
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: c.addCRD, UpdateFunc: func(_, now any) { c.addCRD(now) }, DeleteFunc: c.removeCRD,
	})
	return err
}

// addCRD adds a CRD, or its new state.
func (d *defined) addCRD(o any) {
	crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.crds[crd.Name]
	d.crds[crd.Name] = crd
	changed := before == nil || len(shard.Claims(before)) != len(shard.Claims(crd)) || before.UID != crd.UID ||
		before.Generation != crd.Generation
	if changed || before.Annotations[api.AnnotationOperator] != crd.Annotations[api.AnnotationOperator] {
		d.changes.Add(1)
	}
}

// removeCRD removes a CRD that was deleted.
func (d *defined) removeCRD(o any) {
	if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = last.Obj
	}
	if crd, ok := o.(*apiextensionsv1.CustomResourceDefinition); ok {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.crds, crd.Name)
		d.changes.Add(1)
	}
}

// findCRD returns a CRD of the cluster, or nil. It reads a CRD that is not known yet from the API
// server.
func (d *defined) findCRD(ctx context.Context, name string) *apiextensionsv1.CustomResourceDefinition {
	d.mu.Lock()
	known := d.crds[name]
	d.mu.Unlock()
	if known != nil {
		return known
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := d.reader.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return nil
	}
	d.addCRD(crd)
	return crd
}

// byKind is the CRD of a kind, or nil.
func (d *defined) byKind(gk apischema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, crd := range d.crds {
		if crd.Spec.Group == gk.Group && crd.Spec.Names.Kind == gk.Kind {
			return crd
		}
	}
	return nil
}

// listClaimed returns the names of the CRDs that an installation serves.
func (d *defined) listClaimed(identity string) map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]bool{}
	for name, crd := range d.crds {
		if (shard.Shard{Identity: identity}).Holds(shard.Claims(crd)) {
			all[name] = true
		}
	}
	return all
}

// findServed returns the kind of a CRD in a version in which it is served.
func findServed(crd *apiextensionsv1.CustomResourceDefinition) (apischema.GroupVersionKind, error) {
	for _, v := range crd.Spec.Versions {
		if v.Served {
			return apischema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}, nil
		}
	}
	return apischema.GroupVersionKind{}, fmt.Errorf("CRD %s is not served", crd.Name)
}
