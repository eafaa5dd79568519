package controller

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/locks"
)

// definitions are the CRDs of the cluster by the kinds that they define. They
// are asked for every snapshot, write and child, so they have a mutex of their
// own, and no answer looks at all of them. The zero value has none.
type definitions struct {
	mu locks.Mutex
	// byKind has the CRDs of a kind by name: names may overlap, and then one of
	// them is established.
	byKind map[schema.GroupKind]map[string]*apiextensionsv1.CustomResourceDefinition
	// whole is the snapshot that was asked for last, shown is it with what the
	// CRDs promise, and left is that without the kinds that go.
	whole, shown, left *cluster.Served
}

// put takes a CRD as seen now, and before; nil: it was not there. It reports whether
// something is not promised any more.
func (d *definitions) put(before, now *apiextensionsv1.CustomResourceDefinition) (withdrawn bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before != nil && kindOf(before) != kindOf(now) {
		d.remove(before)
	}
	if d.byKind == nil {
		d.byKind = map[schema.GroupKind]map[string]*apiextensionsv1.CustomResourceDefinition{}
	}
	kind := kindOf(now)
	if d.byKind[kind] == nil {
		d.byKind[kind] = map[string]*apiextensionsv1.CustomResourceDefinition{}
	}
	d.byKind[kind][now.Name] = now
	d.whole = nil
	return before != nil && slices.ContainsFunc(promises(before), func(gvk schema.GroupVersionKind) bool {
		return !slices.Contains(promises(now), gvk)
	})
}

// drop takes that a CRD is gone.
func (d *definitions) drop(gone *apiextensionsv1.CustomResourceDefinition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remove(gone)
	d.whole = nil
}

// remove needs the mutex.
func (d *definitions) remove(crd *apiextensionsv1.CustomResourceDefinition) {
	kind := kindOf(crd)
	if delete(d.byKind[kind], crd.Name); len(d.byKind[kind]) == 0 {
		delete(d.byKind, kind)
	}
}

// of is the CRD that defines a kind, or nil.
func (d *definitions) of(kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.find(kind)
}

// find needs the mutex.
func (d *definitions) find(kind schema.GroupKind) (found *apiextensionsv1.CustomResourceDefinition) {
	for _, crd := range d.byKind[kind] {
		if found == nil || isEstablished(crd) {
			found = crd
		}
	}
	return found
}

// promising is a snapshot that knows what CRDs promise, and staying is it without
// the kinds whose CRD goes: nothing can be created of them any more.
func (d *definitions) promising(whole *cluster.Served) *cluster.Served {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(whole)
	return d.shown
}

func (d *definitions) staying(whole *cluster.Served) *cluster.Served {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(whole)
	return d.left
}

// look takes a snapshot; it needs the mutex.
func (d *definitions) look(whole *cluster.Served) {
	if d.whole == whole {
		return
	}
	going := map[schema.GroupKind]bool{}
	var promised []schema.GroupVersionKind
	for kind := range d.byKind {
		crd := d.find(kind)
		going[kind] = crd.DeletionTimestamp != nil
		promised = append(promised, promises(crd)...)
	}
	maps.DeleteFunc(going, func(_ schema.GroupKind, goes bool) bool { return !goes })
	d.whole, d.shown = whole, whole.Promising(promised)
	d.left = d.shown.Without(going)
}

// promises are the kinds that the API server is to serve because of a CRD.
func promises(crd *apiextensionsv1.CustomResourceDefinition) (all []schema.GroupVersionKind) {
	if !isEstablished(crd) || crd.DeletionTimestamp != nil {
		return nil
	}
	for _, v := range crd.Spec.Versions {
		if v.Served {
			all = append(all, kindOf(crd).WithVersion(v.Name))
		}
	}
	return all
}

func kindOf(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupKind {
	return schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
}
