package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/panics"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/refusals"
	"github.com/jacquard-operator/jacquard/engine/revision"
	"github.com/jacquard-operator/jacquard/engine/schema"
)

// syncWorkers is how many kinds are settled at the same time: a CRD that takes long
// to write, or a folder that takes long to load, keeps no other kind waiting.
const syncWorkers = 8

// newKindLimiter returns how long a kind waits that cannot be settled: what is in the way,
// such as a missing permission, may go any time.
func newKindLimiter() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, time.Minute)
}

// syncKinds starts, changes and stops kinds, each one step at a time.
func (o *Operator) syncKinds(ctx context.Context) error {
	go func() {
		<-ctx.Done()
		o.names.ShutDown()
	}()
	var all sync.WaitGroup
	for range syncWorkers {
		all.Go(func() { o.syncNext(ctx) })
	}
	all.Wait()
	for _, r := range o.running() {
		r.stop()
	}
	o.unlistAll()
	o.giveUp()
	o.leave()
	return nil
}

// syncNext syncs one kind after the other until there are no more to come.
func (o *Operator) syncNext(ctx context.Context) {
	for {
		name, stop := o.names.Get()
		if stop {
			return
		}
		err := o.syncSafely(ctx, name)
		o.recordUnsynced(name, err)
		if err != nil {
			log.FromContext(ctx).Error(err, "kind not settled", "kind", name)
			o.names.AddRateLimited(name)
		} else {
			o.names.Forget(name)
		}
		o.names.Done(name)
	}
}

// syncSafely syncs a kind; a panic is why this one kind cannot be served.
func (o *Operator) syncSafely(ctx context.Context, name string) error {
	return reconcile.Guard(name, "settling "+name, func() error { return o.syncKind(ctx, name) })
}

// recordUnsynced keeps for the report why a kind cannot be served.
func (o *Operator) recordUnsynced(name string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.state(name)
	k.unsettled = ""
	if err == nil || apierrors.IsConflict(err) { // the CRD changed; the cache tells how
		return
	}
	k.unsettled = err.Error()
	if refusal := refusals.Classify(err); refusal.Rule != "" {
		k.unsettled = refusal.Error()
	}
}

// syncKind makes one kind run with what there is of it now: a folder that loads,
// its last good version, on hold, or deleting only; or not at all.
func (o *Operator) syncKind(ctx context.Context, name string) error {
	o.mu.Lock()
	seen := o.seen(name)
	f, unread, crd, running := seen.source.folder, seen.source.unread, seen.crd, seen.controller
	none := f == nil && unread == nil
	unknown := !o.listed || none && (!o.read || !o.mapsRead)
	o.mu.Unlock()
	if unknown { // crdsListed or readMaps syncs again
		return nil
	}
	o.recordCRD(ctx, name, crd == nil, !none)
	if crd == nil || !established(crd) || none && !hasRecord(crd) {
		o.forgetTrouble(ctx, name, crd)
		o.forgetIdle(name)
		o.recordClaim(ctx, name, shard.Shard{}, nil)
		o.stopUnserved(name)
		o.recordLonely(ctx, name, crd == nil)
		return nil
	}
	if err := o.readCRD(ctx, name); err != nil {
		return err
	}
	if none {
		unread = o.missingRoot(crd)
	}
	known := o.discovery.Served() // the version is made by this or by what is newer
	made, h := o.version(ctx, name, f, unread, crd), o.history(ctx, crd)
	if delay := o.startDelay(h, made, f); delay > 0 {
		o.names.AddAfter(name, delay)
		return nil
	}
	switch share := o.turns.now(); { // takeShare syncs again
	case o.divides() && share.None():
		return nil
	case o.divides() && !share.Leads:
		return o.followLeader(ctx, h, running, made)
	}
	v, unusable := o.chosen(ctx, h, made, running == nil)
	if v == nil {
		return unusable
	}
	gvk, err := shownAs(v.Kind, crd)
	if err != nil {
		return err
	}
	if !o.leads() { // lead syncs again
		return o.standBy(ctx, v, gvk, crd)
	}
	if ours, err := h.claimKind(ctx, v, o.shardOf(crd)); !ours {
		o.stopUnserved(name)
		return err
	}
	running = o.stopOutdated(running, crd, v, gvk)
	if _, served := known.Resource(gvk); !served {
		o.discovery.Trigger() // followDiscovery syncs again
		return nil
	}
	of := f
	if v != made { // a revision is kept already
		of = nil
	}
	o.keep(ctx, h, v, of)
	if err := o.serve(ctx, h, running, v, f); err != nil {
		return err
	}
	return unusable
}

// stopOutdated stops a kind whose CRD is another one, or which is served in another
// version of it; else it runs on.
func (o *Operator) stopOutdated(running *kindController, crd *apiextensionsv1.CustomResourceDefinition, v *observe.Version,
	gvk apischema.GroupVersionKind) *kindController {
	if running != nil && (running.crdUID != crd.UID || (v.Kind != nil && running.gvk != gvk)) {
		o.stop(v.Name)
		return nil
	}
	return running
}

// chosen is the version to serve with a folder that made v: that of a revision, if a
// person rolled back to it, or if the operator begins with a folder that does not load.
// With an error it is nil, or one that serves nothing.
func (o *Operator) chosen(ctx context.Context, h *history, v *observe.Version, begins bool) (*observe.Version, error) {
	crd, mine := o.crd(v.Name), o.shardOf(h.crd)
	if crd == nil || !o.leads() || mine.Conflict(shard.Claims(crd)) != nil { // it is another's to roll back
		return v, nil
	}
	back, err := h.rolledBack(ctx, v, crd, mine)
	if r := o.kindController(v.Name); r != nil && (back == v || err != nil) { // else another version is rolled out
		r.versions.haltRollout(readRollback(crd, mine).From, err)
	}
	if back == nil {
		return nil, err
	}
	o.mu.Lock()
	k := o.state(v.Name)
	k.revision = v.Digest
	if k.rolledBack = ""; back != v && err == nil {
		k.rolledBack = back.Digest
	}
	o.mu.Unlock()
	if begins && back == v {
		return h.lastGood(ctx, back, crd, mine)
	}
	return back, err
}

// recordSynced notes that what is told of a kind is about this folder from now on.
func (o *Operator) recordSynced(name string, f *folder.Folder) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state(name).synced = ""; f != nil {
		o.state(name).synced = f.Digest
	}
}

// version is what a kind is to run with now, by its folder and CRD.
func (o *Operator) version(ctx context.Context, name string, f *folder.Folder, unread error,
	crd *apiextensionsv1.CustomResourceDefinition) *observe.Version {
	v := &observe.Version{Name: name, Removed: f == nil && unread == nil}
	if v.Removed {
		o.forgetTrouble(ctx, name, crd)
	} else {
		v.Kind, v.Broken = o.compile(f, unread, crd)
		reconcile.NotePanic(name, v.Broken)
		o.recordTrouble(ctx, name, crd, v.Broken)
		o.countLoad(name, digest(v.Kind), v.Broken)
	}
	o.announceIdle(ctx, name)
	o.complete(v, crd)
	return v
}

// complete fills in what follows of a version's folder and the CRD.
func (o *Operator) complete(v *observe.Version, crd *apiextensionsv1.CustomResourceDefinition) {
	v.Digest = digest(v.Kind)
	v.Schema = sync.OnceValue(func() *schema.Version { return shown(v.Kind, crd) })
	v.Children, v.Patched = observe.Needs(v.Kind, crd, o.apis())
}

// digest tells what folders render apart: their files and the settings of the
// installation. The CRD is no part of it: what a change of its schema does to a
// resource, defaults and pruning, the API server does before any version sees
// the resource, and so no version could be kept from it.
func digest(k *kind.Kind) string {
	if k == nil {
		return ""
	}
	return revision.Cut(k.Digest)
}

// serve starts a kind with a version, or lets one that runs go on with it.
func (o *Operator) serve(ctx context.Context, h *history, running *kindController, v *observe.Version, f *folder.Folder) error {
	crd, seen := o.crd(v.Name), o.seenCRD(v.Name)
	if crd == nil || seen == nil {
		return nil
	}
	before := pastOf(crd, v, o.shardOf(seen))
	// A replica that becomes the leader begins with what the record says.
	if running != nil && !running.led && !running.versions.hasFollowed(before.record) {
		o.stop(v.Name)
		running = nil
	}
	rolls := v.Kind != nil && !before.isSettled(v) || running != nil && running.versions.isRollingOut()
	if !o.wholes(ctx, v, rolls) {
		o.recordSynced(v.Name, nil) // what is known is about the folder before
		o.names.AddAfter(v.Name, wholeTick)
		gvk, err := shownAs(v.Kind, h.crd)
		if err == nil && running == nil {
			_, err = o.list(ctx, gvk, seen)
		}
		return err
	}
	if before.record.Target().Digest != v.Digest {
		before.number = h.nextNumber(v.Digest, before.record)
	}
	if running == nil || !running.versions.hasFolder() {
		before = h.loadRevisions(before, v)
	}
	if err := h.serve(ctx, running, v, before); err != nil {
		return err
	}
	o.recordSynced(v.Name, f)
	return nil
}

// serve starts a kind with a version whose past is known, or lets one that runs go on with
// it.
func (h *history) serve(ctx context.Context, running *kindController, v *observe.Version, before past) error {
	o := h.o
	seen := o.seenCRD(v.Name)
	if running == nil {
		c := newVersionTracker(func() bool { return o.paused(v.Name) })
		c.setVersion(v, before)
		gvk, err := shownAs(v.Kind, h.crd)
		if err != nil || seen == nil {
			return err
		}
		if err := o.start(ctx, gvk, seen, c); err != nil {
			return err
		}
		o.exportPaused(v.Name)
		return nil
	}
	o.exportPaused(v.Name)
	if !running.led {
		running.versions.takeRecord(before.record)
		running.led = true
	}
	if v.Kind == nil && !v.Removed && running.versions.hasFolder() {
		running.versions.trigger()
		o.open(running)
		return nil // the last good version runs on
	}
	again := running.versions.setVersion(v, before)
	again = h.renew(running.versions) || again
	running.want()
	o.countUnwatched(running)
	running.versions.trigger()
	if again {
		running.enqueueAll()
	}
	o.open(running)
	return nil
}

// compile understands a folder for the live CRD; trouble says why it cannot.
func (o *Operator) compile(f *folder.Folder, unread error, crd *apiextensionsv1.CustomResourceDefinition) (k *kind.Kind, err error) {
	defer panics.Catch(&err, "loading the folder")
	if unread != nil {
		return nil, unread
	}
	live, err := schema.FromObject(crd)
	if err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", crd.Name, err)
	}
	k, err = kind.Compile(f, live)
	if err == nil {
		k, err = o.options.Settings.Apply(k)
	}
	if err != nil {
		return nil, err
	}
	return o.placed(k)
}

// placed is a kind as it is in this cluster.
func (o *Operator) placed(k *kind.Kind) (*kind.Kind, error) {
	if err := k.CheckScopes(o.scopeOf); err != nil {
		return nil, err
	}
	return k.At(kind.Site{Namespace: o.options.Namespace, Namespaces: o.options.Namespaces, Scopes: o.scopeOf}), nil
}

// scopeOf reports whether a kind that is not built in lives in no namespace.
func (o *Operator) scopeOf(gvk apischema.GroupVersionKind) (clusterScoped, known bool) {
	served, found := o.discovery.Served().Resource(gvk)
	return found && !served.Namespaced, found
}

// countLoad counts a version of a folder once, with what became of it.
func (o *Operator) countLoad(name, digest string, trouble error) {
	metrics.Kind(name).Loads(trouble == nil)
	if trouble != nil {
		digest = trouble.Error()
	}
	o.mu.Lock()
	k := o.state(name)
	before := k.taken
	k.taken = digest
	o.mu.Unlock()
	if before != digest {
		metrics.Kind(name).Loaded(trouble == nil)
	}
}

// recordLonely tells once of a folder that waits for its CRD.
func (o *Operator) recordLonely(ctx context.Context, name string, lonely bool) {
	o.mu.Lock()
	k := o.state(name)
	lonely = lonely && o.listed && k.named()
	before := k.announced.lonely
	k.announced.lonely = lonely
	o.mu.Unlock()
	if lonely && !before {
		log.FromContext(ctx).Info("folder has no CRD in this cluster: the kind starts when it is installed", "kind", name)
	}
}

// shownAs is the kind in the version that templates see.
func shownAs(k *kind.Kind, crd *apiextensionsv1.CustomResourceDefinition) (apischema.GroupVersionKind, error) {
	if k != nil {
		return k.GVK, nil
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return apischema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}, nil
		}
	}
	return apischema.GroupVersionKind{}, errors.New("the CRD has no storage version")
}

// shown is the schema of the version that templates see; nil if the CRD cannot
// be read.
func shown(k *kind.Kind, crd *apiextensionsv1.CustomResourceDefinition) *schema.Version {
	if k != nil {
		return k.Version
	}
	live, err := schema.FromObject(crd)
	if err != nil {
		return nil
	}
	v, err := live.Version("")
	if err != nil {
		return nil
	}
	return v
}
