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

// putCRD records a CRD as it is now. before is the CRD as it was, or nil if it was not there. It
// reports whether the API server is to serve something no longer.
func (d *definitions) putCRD(before, now *apiextensionsv1.CustomResourceDefinition) (withdrawn bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before != nil && kindOf(before) != kindOf(now) {
		d.removeLocked(before)
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
	return before != nil && slices.ContainsFunc(promisedVersions(before), func(gvk schema.GroupVersionKind) bool {
		return !slices.Contains(promisedVersions(now), gvk)
	})
}

// dropCRD records that a CRD is gone.
func (d *definitions) dropCRD(gone *apiextensionsv1.CustomResourceDefinition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removeLocked(gone)
	d.whole = nil
}

// removeLocked removes a CRD. The caller must hold the mutex.
func (d *definitions) removeLocked(crd *apiextensionsv1.CustomResourceDefinition) {
	kind := kindOf(crd)
	if delete(d.byKind[kind], crd.Name); len(d.byKind[kind]) == 0 {
		delete(d.byKind, kind)
	}
}

// findCRD returns the CRD that defines a kind, or nil.
func (d *definitions) findCRD(kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.findLocked(kind)
}

// findLocked returns the CRD that defines a kind, or nil. The caller must hold the mutex.
func (d *definitions) findLocked(kind schema.GroupKind) (found *apiextensionsv1.CustomResourceDefinition) {
	for _, crd := range d.byKind[kind] {
		if found == nil || isEstablished(crd) {
			found = crd
		}
	}
	return found
}

// addPromised returns a snapshot with what CRDs promise in addition.
func (d *definitions) addPromised(whole *cluster.Served) *cluster.Served {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takeSnapshot(whole)
	return d.shown
}

// addStaying returns the same, without the kinds whose CRD is being deleted: nothing can be created
// of them any more.
func (d *definitions) addStaying(whole *cluster.Served) *cluster.Served {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takeSnapshot(whole)
	return d.left
}

// takeSnapshot completes a snapshot, unless it did so last. The caller must hold the mutex.
func (d *definitions) takeSnapshot(whole *cluster.Served) {
	if d.whole == whole {
		return
	}
	going := map[schema.GroupKind]bool{}
	var promised []schema.GroupVersionKind
	for kind := range d.byKind {
		crd := d.findLocked(kind)
		going[kind] = crd.DeletionTimestamp != nil
		promised = append(promised, promisedVersions(crd)...)
	}
	maps.DeleteFunc(going, func(_ schema.GroupKind, goes bool) bool { return !goes })
	d.whole, d.shown = whole, whole.Promising(promised)
	d.left = d.shown.Without(going)
}

// promisedVersions returns the kinds that the API server is to serve because of a CRD.
func promisedVersions(crd *apiextensionsv1.CustomResourceDefinition) (all []schema.GroupVersionKind) {
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
