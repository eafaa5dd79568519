package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A versionTracker knows which revisions of its folder serve a kind, and takes the latest one
// to all resources.
type versionTracker struct {
	// triggered makes the kind's goroutine look at the rollout.
	triggered chan struct{}
	// kindPaused reports whether the whole kind is observed and not changed.
	kindPaused func() bool
	// readMarks returns the revisions that the children of a resource carry.
	readMarks func(types.UID) []rollout.Revision

	mu sync.Mutex
	// revisions serve resources, in the order in which they began: the base first, the target
	// last. While nothing is rolled out, there is one.
	revisions []servedRevision
	// rollout takes the target to all resources, or is nil. While a rollback cannot be carried
	// out, halted is why the rollout must not continue; else it is "".
	rollout *rollout.Rollout
	halted  string
	// rollback is the rollback by which the target serves, or zero.
	rollback rollout.Rollback
	// found are the revisions that serve resources to which an earlier process took them, as
	// their children said first: later, these may go or change.
	found map[types.UID]rollout.Revision
	// lost is why the version of a revision is not here.
	lost string
	// written is the record as the CRD has it. passed are the resources that a complete
	// rollout has passed and that are not ready.
	written rollout.Record
	passed  map[types.NamespacedName]bool
	// used is the approval that was taken in last, while the CRD has it.
	used string
	// paused is true if the whole kind was paused when it was looked at last. retried is when
	// resources that could not be rendered were previewed last.
	paused  bool
	retried time.Time
	// progress is since when the rollout has made no progress.
	progress progressClock
}

// A servedRevision is a revision that serves resources, or will.
type servedRevision struct {
	rollout.Revision
	// version is nil if it is not here: what it serves is then frozen.
	version *observe.Version
	// rollout took the revision to resources until another one began. It is nil if an earlier
	// process did: then the marks on children say which ones it serves.
	rollout *rollout.Rollout
}

// isAbandoned reports whether the rollout of the revision was abandoned before it was complete.
func (c *versionTracker) isAbandoned(s servedRevision) bool {
	return s.Revision != c.revisions[0].Revision
}

func newVersionTracker(kindPaused func() bool) *versionTracker {
	return &versionTracker{triggered: make(chan struct{}, 1), kindPaused: kindPaused,
		readMarks: func(types.UID) []rollout.Revision { return nil }}
}

// trigger makes the kind's goroutine look at the rollout soon.
func (c *versionTracker) trigger() {
	select {
	case c.triggered <- struct{}{}:
	default:
	}
}

// A past is what is known of a kind before this process serves it.
type past struct {
	record rollout.Record
	// hasChildren is true if children were ever created.
	hasChildren bool
	// number is that of the next revision.
	number int64
	// versions are those of recorded revisions, by digest; lost is why one of them is missing.
	versions map[string]*observe.Version
	lost     string
	// rollback is the rollback by which the version serves, or zero.
	rollback rollout.Rollback
}

// isSettled reports whether a version serves every resource: it was rolled out, or there
// are no children yet.
func (p past) isSettled(v *observe.Version) bool {
	return !p.record.IsUnfinished() && (p.record.Target().Digest == v.Digest || !p.hasChildren)
}

func pastOf(crd metav1.Object, v *observe.Version, mine shard.Shard) past {
	p := past{record: readRecord(crd, mine), hasChildren: hasRecord(crd)}
	if back := readRollback(crd, mine); back.To == v.Digest {
		p.rollback = back
	}
	return p
}

func readRecord(crd metav1.Object, mine shard.Shard) rollout.Record {
	return rollout.ReadRecord(crd.GetAnnotations(), mine.Key)
}

// setVersion continues with a version, and reports whether all resources have to be
// reconciled. The caller triggers once what the version needs is watched.
func (c *versionTracker) setVersion(v *observe.Version, before past) (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollback = before.rollback
	present := c.targetRevision()
	isServing := present.version != nil && present.version.Kind != nil
	switch {
	case v.Kind == nil:
		again = present.version == nil || isServing || !sameTrouble(present.version, v)
		c.serveAll(rollout.Revision{}, v)
		return again
	case isServing && present.Digest == v.Digest:
		again = !sameKinds(present.version, v) || c.rollout == nil && !same(present.version, v)
		if !same(present.version, v) { // else a preview with it is under way, perhaps
			c.setTarget(v)
		}
		return again
	case isServing:
		c.beginRollout(c.revisions, v, before.number, rollout.Record{})
		return false
	case before.isSettled(v):
		revision := before.record.Target()
		if revision.Digest != v.Digest {
			revision = rollout.Revision{Number: before.number, Digest: v.Digest}
		}
		c.serveAll(revision, v)
		c.recordPassed(before.record, before.record.PassedNames())
		return true
	}
	c.lost, c.written = before.lost, before.record
	c.beginRollout(before.listRevisions(v), v, before.number, before.record)
	return false
}

// listRevisions returns the revisions that are on record. If none is, nobody knows which one
// created the children.
func (p past) listRevisions(v *observe.Version) (all []servedRevision) {
	if len(p.record.Revisions) == 0 {
		return []servedRevision{{Revision: rollout.Revision{Digest: rollout.Unknown}}}
	}
	for _, r := range p.record.Revisions {
		version := p.versions[r.Digest]
		if r.Digest == v.Digest {
			version = v
		}
		all = append(all, servedRevision{Revision: r, version: withRevision(version, r)})
	}
	return all
}

// withRevision returns a version that marks the children that it writes with a revision.
func withRevision(v *observe.Version, r rollout.Revision) *observe.Version {
	if v == nil || r.Digest == "" {
		return v
	}
	marked := *v
	marked.Revision = r.String()
	return &marked
}

// targetRevision is the revision that serves every resource, or eventually will. It is zero before
// there is any. It needs the mutex.
func (c *versionTracker) targetRevision() servedRevision {
	if len(c.revisions) == 0 {
		return servedRevision{}
	}
	return c.revisions[len(c.revisions)-1]
}

// setTarget replaces the version of the target. It needs the mutex.
func (c *versionTracker) setTarget(v *observe.Version) {
	last := &c.revisions[len(c.revisions)-1]
	last.version = withRevision(v, last.Revision)
}

// serveAll serves every resource with one version. It needs the mutex.
func (c *versionTracker) serveAll(r rollout.Revision, v *observe.Version) {
	c.revisions = []servedRevision{{Revision: r, version: withRevision(v, r)}}
	c.rollout, c.passed, c.found, c.lost = nil, nil, nil, ""
}

// beginRollout begins to roll out a version after some revisions, or continues if it is the
// last of them and none serves yet. What a rollout that is under way has reached stays as it
// is until this one reaches it. It needs the mutex.
func (c *versionTracker) beginRollout(after []servedRevision, v *observe.Version, number int64, record rollout.Record) {
	isRevert := len(after) > 1 && after[0].Digest == v.Digest
	if len(c.revisions) > 0 && c.rollout != nil {
		after[len(after)-1].rollout = c.rollout
	}
	if record.Target().Digest != v.Digest || !record.IsUnfinished() {
		for _, s := range after {
			number = max(number, s.Number+1)
		}
		r := rollout.Revision{Number: number, Digest: v.Digest}
		after = append(slices.Clone(after), servedRevision{Revision: r, version: withRevision(v, r)})
	}
	settings := rollout.Settings{Rollout: v.Kind.Settings.Rollout, IsRevert: isRevert, Approved: c.rollback.Approved}
	for _, s := range after {
		settings.Revisions = append(settings.Revisions, s.Revision)
	}
	c.revisions, c.passed, c.halted = after, nil, ""
	c.rollout, c.retried = rollout.New(settings, record, time.Now()), time.Now()
}

// haltRollout stops the rollout of the version that a person rolled back from, while the revision
// to serve instead cannot be used. No error lets it continue.
func (c *versionTracker) haltRollout(from string, unusable error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.halted
	if c.halted = ""; unusable != nil && c.rollout != nil && c.targetRevision().Digest == from {
		c.halted = unusable.Error()
	}
	if c.rollout != nil && c.halted != "" { // else the next step lets it continue
		c.rollout.Halt(c.halted, time.Now())
	}
	if c.halted != before {
		c.trigger()
	}
}

// same reports whether two versions of the same digest are to be served alike.
func same(a, b *observe.Version) bool {
	return a.Kind.CRD.Object.Generation == b.Kind.CRD.Object.Generation && sameKinds(a, b)
}

// sameKinds reports whether two versions look at the same kinds.
func sameKinds(a, b *observe.Version) bool {
	return maps.Equal(a.Children, b.Children) && slices.Equal(a.Patched, b.Patched)
}

// sameTrouble reports whether two versions without folder say the same.
func sameTrouble(a, b *observe.Version) bool {
	if (a.Broken == nil) != (b.Broken == nil) || a.Broken != nil && a.Broken.Error() != b.Broken.Error() {
		return false
	}
	return a.Removed == b.Removed && sameKinds(a, b)
}

// versions are all that are served.
func (c *versionTracker) versions() []*observe.Version {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*observe.Version
	for _, s := range c.revisions {
		if s.version != nil {
			all = append(all, s.version)
		}
	}
	return all
}

// children are the kinds of children of all versions, with what any of them needs.
func (c *versionTracker) children() map[apischema.GroupVersionKind]live.Need {
	all := map[apischema.GroupVersionKind]live.Need{}
	for _, v := range c.versions() {
		for gvk, need := range v.Children {
			all[gvk] = all[gvk].Merge(need)
		}
	}
	return all
}

// scopes are what all versions read and patch.
func (c *versionTracker) scopes() []cluster.Scope {
	var all []cluster.Scope
	for _, v := range c.versions() {
		for _, scope := range v.Scopes() {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

// isPending reports whether something that a version needs has not been listed yet.
func (c *versionTracker) isPending(in reconcile.Cluster) bool {
	return slices.ContainsFunc(c.versions(), func(v *observe.Version) bool { return v.IsPending(in.Caches) })
}

// isRollingOut reports whether a version is being rolled out.
func (c *versionTracker) isRollingOut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rollout != nil
}

// hasFolder reports whether some folder that loads is served.
func (c *versionTracker) hasFolder() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.targetRevision().version
	return v != nil && v.Kind != nil
}

// resyncInterval is how often the children are listed without an event.
func (c *versionTracker) resyncInterval() time.Duration { return c.versions()[0].ResyncInterval() }

// marksOf returns the revisions that the children of a resource carry, if that matters: a
// revision serves resources to which an earlier process took it.
func (c *versionTracker) marksOf(uid types.UID) []rollout.Revision {
	c.mu.Lock()
	matters := false
	for i := 1; i < len(c.revisions)-1; i++ {
		matters = matters || c.revisions[i].rollout == nil
	}
	c.mu.Unlock()
	if !matters {
		return nil
	}
	return c.readMarks(uid)
}

// presentOf returns the revision that serves a resource which the rollout has not reached. It
// needs the mutex.
func (c *versionTracker) presentOf(uid types.UID, marks []rollout.Revision) servedRevision {
	earlier, isFound := c.found[uid]
	for i := len(c.revisions) - 2; i > 0; i-- {
		s := c.revisions[i]
		switch {
		case s.rollout != nil && s.rollout.IsServed(uid), isFound && s.Revision == earlier:
			return s
		case s.rollout == nil && !isFound && slices.Contains(marks, s.Revision):
			if c.found == nil {
				c.found = map[types.UID]rollout.Revision{}
			}
			c.found[uid] = s.Revision
			return s
		}
	}
	return c.revisions[0]
}

// outdated are the digests of versions that wait to be replaced, and were made with a
// CRD of another generation, or are not here since they did not fit it.
func (c *versionTracker) outdated(generation int64) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var digests []string
	for _, s := range c.revisions[:max(0, len(c.revisions)-1)] {
		isOutdated := s.version == nil || s.version.Kind != nil && s.version.Kind.CRD.Object.Generation != generation
		if isOutdated && s.Digest != "" && !slices.Contains(digests, s.Digest) {
			digests = append(digests, s.Digest)
		}
	}
	return digests
}

// replace replaces versions that wait to be replaced, by digest, and reports whether that
// changes anything; what those that are nil serve is frozen, and why says why.
func (c *versionTracker) replace(by map[string]*observe.Version, why string) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = why
	for i, s := range c.revisions[:max(0, len(c.revisions)-1)] {
		if v, found := by[s.Digest]; found {
			c.revisions[i].version, changed = withRevision(v, s.Revision), changed || v != nil || s.version != nil
		}
	}
	return changed
}

// choose decides which version serves a resource in this reconciliation.
func (c *versionTracker) choose(o *unstructured.Unstructured) reconcile.Choice {
	marks, isObserved := c.marksOf(o.GetUID()), c.kindPaused()
	c.mu.Lock()
	defer c.mu.Unlock()
	target := c.targetRevision()
	if c.rollout == nil {
		return reconcile.Choice{Version: target.version}
	}
	present := c.presentOf(o.GetUID(), marks)
	decided := rollout.Decision{Undecided: present.version == nil}
	if isObserved || c.written.Target() == target.Revision { // what marks children must be on record
		decided = c.rollout.Choose(rollout.ResourceOf(o))
	}
	choice := reconcile.Choice{Version: present.version}
	if present.version == nil {
		choice = reconcile.Choice{Version: target.version, Frozen: true, Why: c.lost}
	}
	if c.isAbandoned(present) {
		choice.MayDelete = func(gk apischema.GroupKind, child metav1.Object) error {
			return c.mayDeleteAbandoned(present, rollout.ResourceOf(o), rollout.ChildOf(gk, child))
		}
	}
	switch {
	case decided.Undecided:
		return reconcile.Choice{Version: target.version, Undecided: true}
	case decided.Target:
		mine := c.rollout
		return reconcile.Choice{Version: target.version, MayDelete: func(gk apischema.GroupKind, child metav1.Object) error {
			return c.mayDelete(mine, rollout.ResourceOf(o), rollout.ChildOf(gk, child))
		}}
	case c.rollout.State() == rollout.Previewing:
		return choice
	case decided.Failure != "":
		choice.Refused = "the changed folder cannot be rendered, so the resource stays as it was: " + decided.Failure
	}
	if choice.Frozen && decided.Unpreviewed { // nothing serves it first
		c.rollout.Served(rollout.ResourceOf(o), rollout.Outcome{}, time.Now())
		c.trigger()
	}
	choice.RollsOut = decided.Pending
	return choice
}

// mayDeleteAbandoned returns an error if a revision whose rollout was abandoned must not delete
// a child: what its rollout waited for was never approved.
func (c *versionTracker) mayDeleteAbandoned(s servedRevision, o rollout.Resource, child rollout.Child) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.rollout != nil {
		return s.rollout.MayDelete(o, child)
	}
	return rollout.MayDeleteAbandoned(child)
}

func (c *versionTracker) mayDelete(r *rollout.Rollout, o rollout.Resource, child rollout.Child) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := r.MayDelete(o, child); err != nil {
		c.trigger()
		return err
	}
	return nil
}

// served records the outcome of a reconciliation.
func (c *versionTracker) served(o *unstructured.Unstructured, came reconcile.Outcome) {
	if c.kindPaused() { // it was only looked at
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := rollout.ResourceOf(o)
	if came.Ready && c.passed[now.NamespacedName] {
		delete(c.passed, now.NamespacedName)
		c.trigger()
	}
	if c.rollout == nil {
		return
	}
	revision, _ := rollout.ParseRevision(came.Version.Revision) // a version without folder has none
	c.rollout.Served(now, rollout.Outcome{Revision: revision, Ready: came.Ready, WouldBeReady: came.WouldBeReady,
		Failed: came.Failed, Refused: came.Refused, Forbidden: came.Forbidden}, time.Now())
	c.trigger()
}
