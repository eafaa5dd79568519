package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
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
	for _, name := range w.known() {
		w.names.Add(name)
	}
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
	w.state(crd.Name).crd = crd
	w.mu.Unlock()
	if w.apis.definitions.put(before, crd) {
		select {
		case w.apis.withdrawn <- struct{}{}:
		default:
		}
	}
	if before == nil || before.Generation != crd.Generation || before.UID != crd.UID || established(before) != established(crd) ||
		(before.DeletionTimestamp == nil) != (crd.DeletionTimestamp == nil) {
		w.apis.discovery.Trigger()
		w.names.Add(crd.Name)
	}
	if before == nil {
		return
	}
	if before.Generation != crd.Generation {
		w.renew(crd)
	}
	if w.decided(before) != w.decided(crd) {
		w.names.Add(crd.Name)
	}
	if r := w.kindController(crd.Name); r != nil && before.Annotations[api.AnnotationPaused] != crd.Annotations[api.AnnotationPaused] {
		r.enqueueAll()
	}
}

// renew watches all objects of a CRD that changed again at once: its resources, children
// and what is read. The API server ends the watches of a CRD that changed.
func (w *apiWatcher) renew(crd *apiextensionsv1.CustomResourceDefinition) {
	w.mu.Lock()
	c := w.seen(crd.Name).cache
	w.mu.Unlock()
	if c != nil {
		c.resources.renew()
	}
	w.children.Renew(kindOf(crd))
	w.reads.Renew(kindOf(crd))
}

// syncedBy are the annotations of a CRD that decide how its kind is served.
var syncedBy = []string{api.AnnotationChildKinds, api.AnnotationPatchedKinds, api.AnnotationOperator, api.AnnotationPaused}

// decided tells apart what the annotations of a CRD say of how its kind is to be
// served here.
func (w *apiWatcher) decided(crd *apiextensionsv1.CustomResourceDefinition) string {
	mine := w.shardOf(crd)
	keys := append(slices.Clone(syncedBy), mine.Key(api.AnnotationApproved), mine.Key(api.AnnotationRollback),
		mine.Key(api.AnnotationRolledOut), mine.Key(api.AnnotationRollout), mine.Key(api.AnnotationLeaving))
	for _, claim := range shard.Claims(crd) {
		keys = append(keys, claim.Key)
	}
	var b strings.Builder
	for _, key := range keys {
		fmt.Fprintf(&b, "%s=%q\n", key, crd.Annotations[key])
	}
	return b.String()
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
	k := w.state(crd.Name)
	k.crd, k.answer = nil, nil
	w.mu.Unlock()
	w.apis.definitions.drop(crd)
	w.apis.discovery.Trigger()
	w.names.Add(crd.Name)
}

// shown is what the cluster serves, and what its CRDs promise besides.
func (a *apiCatalog) shown() *cluster.Served { return a.definitions.promising(a.discovery.Served()) }

// served is what the cluster serves, without the kinds whose CRD is going.
func (a *apiCatalog) served() *cluster.Served { return a.definitions.staying(a.discovery.Served()) }

// apis are the kinds that there are in the cluster, as far as is known.
func (a *apiCatalog) apis() observe.APIs {
	return observe.APIs{Served: a.discovery.Served(), Defined: a.defined}
}

// resource is how the cluster serves a kind, also while its CRD goes.
func (a *apiCatalog) resource(gvk schema.GroupVersionKind) (live.Resource, bool) {
	return a.discovery.Served().Resource(gvk)
}

// established reports whether the API server serves a CRD's resources. It does so
// while the CRD goes, until the last of them is gone.
func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

// followDiscovery enqueues what depends on the kinds that the cluster serves otherwise than before,
// or no longer promises. It begins to watch children once it is known whose they may be.
func (w *apiWatcher) followDiscovery(ctx context.Context) error {
	changed, owners := w.apis.discovery.Subscribe(), w.lists.awaitOwners(ctx)
	shown, served := w.apis.shown(), w.apis.served()
	dependsOn := func(*kindController) bool { return true }
	for {
		if owners == nil {
			w.children.Served(w.apis.shown)
		}
		w.reads.Served(w.apis.shown)
		w.enqueueDependents(dependsOn)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-w.apis.withdrawn:
		case <-owners:
			owners = nil
		}
		nowShown, nowServed := w.apis.shown(), w.apis.served()
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
	for _, name := range w.known() {
		w.mu.Lock()
		k := w.seen(name)
		w.mu.Unlock()
		switch r := k.controller; {
		case r != nil && dependsOn(r):
			w.names.Add(name)
			r.enqueueAll()
		case r == nil || k.trouble != nil || k.unsettled != "":
			w.names.Add(name)
		}
	}
}

// dependsOn reports whether a version that serves resources depends on a kind that matches.
func (r *kindController) dependsOn(matches func(schema.GroupKind) bool) bool {
	return matches(r.gvk.GroupKind()) ||
		slices.ContainsFunc(r.versions.listVersions(), func(v *observe.Version) bool { return v.DependsOn(matches) })
}

// known lists the kinds that have a folder or run, or had children, or that the division
// of resources names.
func (t *kindTable) known() []string {
	divided := t.inFlight.currentShare().ExclusiveKinds()
	t.mu.Lock()
	defer t.mu.Unlock()
	names := t.those(func(k *kindState) bool { return k.named() || k.controller != nil || k.crd != nil && hasRecord(k.crd) })
	names = append(names, divided...)
	slices.Sort(names)
	return slices.Compact(names)
}

// kindController is the kind of that name at work, or nil.
func (t *kindTable) kindController(name string) *kindController {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen(name).controller
}

// running are all kinds at work.
func (t *kindTable) running() []*kindController {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*kindController
	for _, k := range t.kinds {
		if k.controller != nil {
			all = append(all, k.controller)
		}
	}
	return all
}

// declaresConditions reports whether the CRD of a kind of child declares
// status.conditions.
func (a *apiCatalog) declaresConditions(gk schema.GroupKind) bool {
	crd := a.definitions.of(gk)
	return crd != nil && observe.DeclaresConditions(crd)
}

// defined reports whether a CRD defines a kind, be it served just now or not.
func (a *apiCatalog) defined(gk schema.GroupKind) bool { return a.definitions.of(gk) != nil }
