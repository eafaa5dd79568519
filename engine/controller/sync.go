package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
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
func (m *kindManager) syncKinds(ctx context.Context) error {
	go func() {
		<-ctx.Done()
		m.names.ShutDown()
	}()
	var all sync.WaitGroup
	for range syncWorkers {
		all.Go(func() { m.syncNext(ctx) })
	}
	all.Wait()
	for _, r := range m.runningKinds() {
		r.endWorkers()
	}
	m.membership.giveUp()
	m.membership.giveAwayShare()
	close(m.membership.ended)
	return nil
}

// syncNext syncs one kind after the other until there are no more to come.
func (m *kindManager) syncNext(ctx context.Context) {
	for {
		name, stop := m.names.Get()
		if stop {
			return
		}
		wait, err := m.syncSafely(ctx, name)
		m.recordUnsynced(name, err)
		if r := m.kindController(name); r != nil && ctx.Err() == nil {
			wait = shorterWait(wait, m.runner.beginServing(r))
			m.divided.Notify()
		}
		switch {
		case err != nil:
			log.FromContext(ctx).Error(err, "kind not settled", "kind", name)
			m.names.AddRateLimited(name)
		case wait > 0:
			m.names.Forget(name)
			m.names.AddAfter(name, wait)
		default:
			m.names.Forget(name)
		}
		m.names.Done(name)
	}
}

// syncSafely syncs a kind; a panic is why this one kind cannot be served.
func (m *kindManager) syncSafely(ctx context.Context, name string) (wait time.Duration, err error) {
	err = reconcile.Guard(name, "settling "+name, func() error {
		wait, err = m.syncKind(ctx, name)
		return err
	})
	return wait, err
}

// recordUnsynced keeps for the report why a kind cannot be served.
func (m *kindManager) recordUnsynced(name string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.stateOf(name)
	k.unsettled = ""
	if err == nil || apierrors.IsConflict(err) { // the CRD changed; the cache tells how
		return
	}
	k.unsettled = err.Error()
	if refusal := refusals.Classify(err); refusal.Rule != "" {
		k.unsettled = refusal.Error()
	}
}

// syncKind brings one kind into its desired state. It returns when to do so again without an event;
// 0 means never. A call takes a few seconds at most, so that kinds do not block each other.
func (m *kindManager) syncKind(ctx context.Context, name string) (time.Duration, error) {
	p := m.observeKind(ctx, name)
	d := kinds.Decide(p.in)
	if err := p.history.lookupError(); err != nil { // what could not be read may decide
		return 0, err
	}
	m.reporter.reportDesired(ctx, p, d)
	if p.running != nil {
		m.troubles.countUnwatched(p.running)
	}

	// 1. Record first what must survive a crash. The event of the write leads back here, and
	// then there is nothing left to write. If something undid the write, it is tried again later.
	if !d.Writes.IsEmpty() {
		if err := m.writeRecord(ctx, p.crd, p.mine, d.Writes); err != nil {
			return 0, fmt.Errorf("recording the state of the kind on CRD %s: %w", name, err)
		}
		m.reporter.announceRollback(ctx, name, d.Writes)
		return retryTick, nil
	}

	// 2. Request what is missing. Meanwhile, whatever is running continues.
	switch {
	case d.Reason == kinds.RecordStale:
		return time.Nanosecond, m.readCRD(ctx, name)
	case d.Reason == kinds.FolderUnsettled:
		return p.settlesIn, nil
	case d.Reason == kinds.NotDiscovered:
		m.apis.discovery.Trigger() // followDiscovery syncs again
		return 0, nil
	case d.Reason == kinds.NotExclusive:
		m.requestKind(p, d)
		return exclusiveTick, nil
	case d.Mode == kinds.Undecided:
		return 0, nil
	case d.Mode == kinds.Stopped:
		m.runner.stopUnserved(name)
		if d.Reason == kinds.RevisionMissing || d.Reason == kinds.NoStorageVersion {
			return 0, d.Err
		}
		return 0, nil
	}
	versions, gvk := p.completeVersions(d), p.servedAs(d)
	if d.Mode == kinds.Standby {
		m.runner.stopWorkers(name) // this process has lost its Lease
		m.standBy(p, versions, gvk)
		return 0, nil
	}

	// 3. Store the versions that serve resources, so that the next process can serve them too. A
	// rollout waits for this; a single version does not.
	keepErr := m.revisions.keepRevisions(ctx, p, d)
	if keepErr != nil && d.IsRollingOut() {
		return 0, keepErr
	}

	// 4. Serve. Only from here on may another version serve a resource.
	m.returnKind(p, d)
	r := m.runner.stopOutdated(p, gvk)
	if r == nil {
		v := newKindVersions(func() { m.names.Add(name) }, func() bool { return m.isPaused(name) })
		v.adoptVersions(d, p.in.Record.Rollout, versions, time.Now())
		if err := m.runner.start(ctx, gvk, p.definition, v); err != nil {
			return 0, err
		}
		m.exportPaused(name)
		m.recordSynced(name, p.folder)
		return 0, keepErr
	}
	m.exportPaused(name)
	changed := r.versions.adoptVersions(d, p.in.Record.Rollout, versions, time.Now())
	r.declareNeeds()
	if changed {
		r.enqueueAll()
	}
	m.share.openShare(r)
	m.recordSynced(name, p.folder)
	if p.in.Role == kinds.Follower {
		return 0, nil
	}

	// 5. Advance the rollout.
	wait, err := m.rollouts.advanceKind(ctx, r)
	if err = errors.Join(err, keepErr); err == nil && d.Reason == kinds.RollbackFailed {
		err = d.Err // the revision may be stored again
	}
	return wait, err
}

// recordSynced notes that what is told of a kind is about this folder from now on.
func (m *kindManager) recordSynced(name string, f *folder.Folder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stateOf(name).synced = ""; f != nil {
		m.stateOf(name).synced = f.Digest
	}
}

// completeVersion fills in what follows of a version's folder and the CRD.
func (m *kindManager) completeVersion(v *observe.Version, crd *apiextensionsv1.CustomResourceDefinition, recorded metav1.Object) {
	v.Digest = digestOfKind(v.Kind)
	v.Schema = sync.OnceValue(func() *schema.Version { return schemaOf(v.Kind, crd) })
	v.Children, v.Patched = observe.Needs(v.Kind, recorded, m.apis.knownAPIs())
}

// digestOfKind tells what folders render apart: their files and the settings of the
// installation. The CRD is no part of it: what a change of its schema does to a
// resource, defaults and pruning, the API server does before any version sees
// the resource, and so no version could be kept from it.
func digestOfKind(k *kind.Kind) string {
	if k == nil {
		return ""
	}
	return revision.Cut(k.Digest)
}

// compileFolder understands a folder for the live CRD.
func (m *kindManager) compileFolder(f *folder.Folder, crd *apiextensionsv1.CustomResourceDefinition) (k *kind.Kind, err error) {
	defer panics.Catch(&err, "loading the folder")
	live, err := schema.FromObject(crd)
	if err != nil {
		return nil, fmt.Errorf("reading CRD %s: %w", crd.Name, err)
	}
	k, err = kind.Compile(f, live)
	if err == nil {
		k, err = m.options.Settings.Apply(k)
	}
	if err != nil {
		return nil, err
	}
	return m.apis.placeKind(k)
}

// storageVersion returns the version in which a CRD's resources are stored, or the zero value.
func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) apischema.GroupVersionKind {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return kindOf(crd).WithVersion(v.Name)
		}
	}
	return apischema.GroupVersionKind{}
}

// schemaOf returns the schema of the version that templates see, or nil if the CRD cannot be read.
func schemaOf(k *kind.Kind, crd *apiextensionsv1.CustomResourceDefinition) *schema.Version {
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

// standBy keeps what the leader needs of a kind at hand, in case this operator
// becomes the leader: its resources, and what its versions make and read.
func (m *kindManager) standBy(p *kindPass, versions []servedVersion, gvk apischema.GroupVersionKind) {
	var all versionList
	for _, s := range versions {
		if s.version != nil {
			all = append(all, s.version)
		}
	}
	m.membership.stoodBy.Store(true)
	m.children.Want(p.name, all.childKinds())
	m.reads.Want(p.name, all.readScopes())
	m.lists.startListing(gvk, p.definition)
}

// readCRD reads the CRD of a kind from the API server, if another replica may have written to it
// what this one has not seen.
func (m *kindManager) readCRD(ctx context.Context, name string) error {
	m.mu.Lock()
	unread := m.readState(name).unread
	m.mu.Unlock()
	if !unread || !m.dividesResources() {
		return nil
	}
	var found metav1.PartialObjectMetadataList
	found.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := m.mgr.GetAPIReader().List(ctx, &found, client.MatchingFields{metav1.ObjectNameField: name}); err != nil {
		return fmt.Errorf("reading CRD %s: %w", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.stateOf(name)
	k.unread = false
	for i := range found.Items {
		k.answer = &found.Items[i]
	}
	return nil
}
