package controller

import (
	"context"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// watchAPIs follows CRDs and APIServices: which kinds there are.
func (w *apiWatcher) watchAPIs(ctx context.Context) error {
	services := &metav1.PartialObjectMetadata{}
	services.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	informer, err := w.mgr.GetCache().GetInformer(ctx, services, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	poke := func(service any) {
		if !ofCRD(service) { // a change of its CRD is a trigger already
			w.apis.discovery.Trigger()
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: poke, DeleteFunc: poke, UpdateFunc: func(_, n any) { poke(n) },
	}); err != nil {
		return err
	}
	crds, err := w.mgr.GetCache().GetInformer(ctx, &apiextensionsv1.CustomResourceDefinition{}, ctrlcache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	told, err := crds.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(n any) { w.crdSafely(n, func() { w.crdCame(nil, n) }) },
		UpdateFunc: func(old, n any) { w.crdSafely(n, func() { w.crdCame(old, n) }) },
		DeleteFunc: func(last any) { w.crdSafely(last, func() { w.crdWent(last) }) },
	})
	if err != nil {
		return err
	}
	if cache.WaitForCacheSync(ctx.Done(), told.HasSynced) {
		w.crdsListed()
	}
	<-ctx.Done()
	return nil
}

// ofCRD reports whether an APIService is one that kube-apiserver itself makes and
// keeps, for a group of CRDs or of its own kinds. The label is that of
// k8s.io/kube-aggregator/pkg/controllers/autoregister.
func ofCRD(service any) bool {
	o, ok := service.(metav1.Object)
	return ok && o.GetLabels()["kube-aggregator.kubernetes.io/automanaged"] != ""
}

// crdsListed makes it known that a CRD which has not been seen is not there.
func (w *apiWatcher) crdsListed() {
	w.mu.Lock()
	w.listed = true
	w.mu.Unlock()
	w.addKnown()
}

// crdSafely takes a change of a CRD. After a panic its kind is settled all the
// same.
func (w *apiWatcher) crdSafely(changed any, take func()) {
	var name string
	if crd, ok := changed.(*apiextensionsv1.CustomResourceDefinition); ok {
		name = crd.Name
	}
	if err := reconcile.Guard(name, "taking a change of CRD "+name, func() error { take(); return nil }); err != nil && name != "" {
		w.names.Add(name)
	}
}

func (w *apiWatcher) crdCame(old, now any) {
	crd, ok := now.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	before, _ := old.(*apiextensionsv1.CustomResourceDefinition)
	w.mu.Lock()
	w.stateOf(crd.Name).crd = crd
	w.mu.Unlock()
	if w.apis.definitions.putCRD(before, crd) {
		w.apis.withdrawn.Notify()
	}
	if before == nil || before.Generation != crd.Generation || before.UID != crd.UID || isEstablished(before) != isEstablished(crd) ||
		(before.DeletionTimestamp == nil) != (crd.DeletionTimestamp == nil) {
		w.apis.discovery.Trigger()
		w.names.Add(crd.Name)
	}
	if before == nil {
		return
	}
	if before.Generation != crd.Generation {
		w.renewWatches(crd)
	}
	if !w.isRecordedAlike(before, crd) {
		w.names.Add(crd.Name)
	}
	if r := w.kindController(crd.Name); r != nil && before.Annotations[api.AnnotationPaused] != crd.Annotations[api.AnnotationPaused] {
		r.enqueueAll()
	}
}

// renewWatches watches all objects of a CRD that changed again at once: its resources, children
// and what is read. The API server ends the watches of a CRD that changed.
func (w *apiWatcher) renewWatches(crd *apiextensionsv1.CustomResourceDefinition) {
	w.resources.Renew(kindOf(crd))
	w.children.Renew(kindOf(crd))
	w.reads.Renew(kindOf(crd))
}

// isRecordedAlike reports whether two states of a CRD say the same of how its kind is to be served.
func (w *apiWatcher) isRecordedAlike(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	mine := w.shardOf(b)
	return a.Annotations[api.AnnotationPaused] == b.Annotations[api.AnnotationPaused] &&
		reflect.DeepEqual(w.readRecord(a, mine), w.readRecord(b, mine)) && reflect.DeepEqual(shard.Claims(a), shard.Claims(b))
}

func (w *apiWatcher) crdWent(gone any) {
	if last, ok := gone.(cache.DeletedFinalStateUnknown); ok {
		gone = last.Obj
	}
	crd, ok := gone.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return
	}
	w.mu.Lock()
	k := w.stateOf(crd.Name)
	k.crd, k.answer = nil, nil
	w.mu.Unlock()
	w.apis.definitions.dropCRD(crd)
	w.apis.discovery.Trigger()
	w.names.Add(crd.Name)
}

// isEstablished reports whether the API server serves a CRD's resources. It does so
// while the CRD goes, until the last of them is gone.
func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// followDiscovery enqueues what depends on the kinds that the cluster serves otherwise than before,
// or no longer promises.
func (w *apiWatcher) followDiscovery(ctx context.Context) error {
	changed := w.apis.discovery.Subscribe()
	shown, served := w.apis.promisedKinds(), w.apis.servedKinds()
	dependsOn := func(*kindController) bool { return true }
	for {
		w.share.watchChildren()
		w.reads.Served(w.apis.promisedKinds)
		w.enqueueDependents(dependsOn)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-w.apis.withdrawn:
		}
		nowShown, nowServed := w.apis.promisedKinds(), w.apis.servedKinds()
		asShown, asServed := shown.ChangesTo(nowShown), served.ChangesTo(nowServed)
		shown, served = nowShown, nowServed
		dependsOn = func(r *kindController) bool {
			return r.dependsOn(func(gk schema.GroupKind) bool { return asShown.Contains(gk) || asServed.Contains(gk) })
		}
	}
}

// enqueueDependents enqueues the kinds that depend on what has changed, with their resources, and
// all that are not served as they should be.
func (w *apiWatcher) enqueueDependents(dependsOn func(*kindController) bool) {
	for _, name := range w.knownKinds() {
		w.mu.Lock()
		k := w.readState(name)
		w.mu.Unlock()
		switch r := k.controller; {
		case r != nil && dependsOn(r):
			w.names.Add(name)
			r.enqueueAll()
		case r == nil || k.report.trouble != nil || k.unsettled != "":
			w.names.Add(name)
		}
	}
}

// dependsOn reports whether a version that serves resources depends on a kind that matches, or what
// is on record.
func (r *kindController) dependsOn(matches func(schema.GroupKind) bool) bool {
	var recorded []kinds.RecordedKind
	if crd := r.o.latestCRD(r.name); crd != nil {
		recorded = r.o.readRecord(crd, r.shard).Kinds
	}
	return matches(r.gvk.GroupKind()) ||
		slices.ContainsFunc(recorded, func(k kinds.RecordedKind) bool { return matches(k.GroupKind) }) ||
		slices.ContainsFunc(r.versions.listVersions(), func(v *observe.Version) bool { return v.DependsOn(matches) })
}
