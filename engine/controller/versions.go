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

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
)

// A versionTracker knows which versions of its folder a kind is served with: the one
// that runs, and the one that is being rolled out.
type versionTracker struct {
	// triggered tells the kind's goroutine to look at the rollout.
	triggered chan struct{}
	// kindPaused reports whether the whole kind is observed and not changed.
	kindPaused func() bool

	mu sync.Mutex
	// running is nil while the folder that made the children is not here: then
	// what the rollout has not reached is held.
	running *observe.Version
	// base is the digest of the version that serves what no rollout has reached,
	// whether it is here or not; "" if that is not known.
	base string
	// next is the version that is being rolled out, or nil; rollout is nil
	// until next has been tried.
	next    *observe.Version
	rollout *rollout.Rollout
	// back: next is the version before an unfinished rollout, put back. halted says why
	// the rollout of next must not go on although nothing else is served, or is "".
	back   bool
	halted string
	// rollback is the rollback by which the last version that was set serves.
	rollback rollout.Rollback
	// kept are the versions of abandoned rollouts, with the resources that they
	// reached. lost says why a version that is wanted here is not.
	kept []keptVersion
	lost string
	// written is the rollout's record as the CRD has it; forced are the resources
	// that a rollout which is complete was forced past and that are not ready.
	written rollout.Record
	forced  map[types.NamespacedName]bool
	// used is the approval that was taken up last, while the CRD has it.
	used string
	// paused: the whole kind was paused when it was looked at last; retried is
	// when resources that could not be rendered were tried last.
	paused  bool
	retried time.Time
	// progress is since when the rollout has made no progress.
	progress progressClock
}

func newVersionTracker(kindPaused func() bool) *versionTracker {
	return &versionTracker{triggered: make(chan struct{}, 1), kindPaused: kindPaused}
}

// trigger makes the kind's goroutine look at the rollout soon.
func (c *versionTracker) trigger() {
	select {
	case c.triggered <- struct{}{}:
	default:
	}
}

// A keptVersion is the version of an abandoned rollout, and what it had reached. The
// version is nil if it is not here, and then what it had reached is held.
type keptVersion struct {
	digest  string
	version *observe.Version
	reached rollout.Set
}

// A past is what the CRD says of a version before this operator serves it, and what of
// that is kept as revisions.
type past struct {
	// settled: the children were made by it, or there are none.
	settled bool
	// unfinished: the CRD tells of a rollout that is not complete, such as that of
	// another version, or of this one when it was put back.
	unfinished bool
	// record is that of the version's own rollout, or zero.
	record rollout.Record
	// base is the version that serves what no rollout has reached, or nil, and digest
	// its digest, or ""; kept are those of rollouts before, and lost says why one of
	// them is not here.
	base   *observe.Version
	digest string
	kept   []keptVersion
	lost   string
	// rollback is the rollback by which the version serves, or zero.
	rollback rollout.Rollback
}

func pastOf(crd metav1.Object, v *observe.Version, mine shard.Shard) past {
	told := rollout.Read(crd.GetAnnotations()[mine.Key(api.AnnotationRollout)])
	p := past{
		settled:    crd.GetAnnotations()[mine.Key(api.AnnotationRolledOut)] == v.Digest || !hasRecord(crd),
		unfinished: told.Digest != "" && told.State != rollout.Complete,
	}
	if told.Digest == v.Digest {
		p.record = told
	}
	if back := readRollback(crd, mine); back.To == v.Digest {
		p.rollback = back
	}
	return p
}

// setVersion goes on with a version and reports whether all resources are to be looked
// at. trigger is to be called once what the version needs is watched.
func (c *versionTracker) setVersion(v *observe.Version, before past) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollback = before.rollback
	lives := c.running != nil && c.running.Kind != nil
	switch {
	case v.Kind == nil:
		again := c.running == nil || lives || !sameTrouble(c.running, v)
		c.use(v)
		return again
	case c.next != nil && c.next.Digest == v.Digest:
		again := !sameKinds(c.next, v)
		c.next = v
		return again
	case c.next == nil && lives && c.running.Digest == v.Digest:
		again := !same(c.running, v)
		c.running = v
		return again
	case !lives && before.settled && !before.unfinished:
		c.use(v)
		c.force(before.record, before.record.ForcedNames())
		return true
	}
	c.back = lives && c.running.Digest == v.Digest || !lives && before.settled
	begins := !lives && c.next == nil
	c.change(v, lives)
	if begins {
		c.running, c.base, c.kept, c.lost = before.base, before.digest, before.kept, before.lost
		c.written = before.record
	}
	return false
}

// use serves everything with a version.
func (c *versionTracker) use(v *observe.Version) {
	c.base = v.Digest
	c.running, c.next, c.rollout, c.forced = v, nil, nil, nil
	c.kept, c.lost = nil, ""
}

// change begins to roll out a version. What the last rollout reached stays on
// its version until this one reaches it.
func (c *versionTracker) change(v *observe.Version, lives bool) {
	if !lives {
		c.running = nil
	}
	if c.rollout != nil {
		reached := rollout.SetOf(c.rollout.Reached())
		for _, k := range c.kept {
			k.reached.Remove(reached)
		}
		c.kept = append(c.kept, keptVersion{c.next.Digest, c.next, reached})
	}
	c.next, c.rollout, c.forced, c.halted = v, nil, nil, ""
}

// haltRollout stops the rollout of the version that a person rolled back from, while the revision
// to serve instead cannot be used. No error lets it go on.
func (c *versionTracker) haltRollout(from string, unusable error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.halted
	if c.halted = ""; unusable != nil && c.next != nil && c.next.Digest == from {
		c.halted = unusable.Error()
	}
	if c.halted != "" && c.rollout != nil {
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
	for _, v := range []*observe.Version{c.running, c.next} {
		if v != nil {
			all = append(all, v)
		}
	}
	for _, k := range c.kept {
		if k.version != nil {
			all = append(all, k.version)
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

// pending reports whether something that a version needs has not been listed yet.
func (c *versionTracker) pending(in reconcile.Cluster) bool {
	return slices.ContainsFunc(c.versions(), func(v *observe.Version) bool { return v.IsPending(in.Caches) })
}

// rolls reports whether a version is being rolled out.
func (c *versionTracker) rolls() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next != nil
}

// good reports whether some folder that loads is served.
func (c *versionTracker) good() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next != nil || c.running != nil && c.running.Kind != nil
}

// resyncInterval is how often the children are listed without an event.
func (c *versionTracker) resyncInterval() time.Duration { return c.versions()[0].ResyncInterval() }

// before is the version that serves a resource which the rollout has not
// reached; nil means that it is held. It needs the mutex.
func (c *versionTracker) before(uid types.UID) *observe.Version {
	for _, k := range c.kept {
		if k.reached.Has(uid) {
			return k.version
		}
	}
	return c.running
}

// holders completes the record of a rollout that is under way by which version each
// resource has. It needs the mutex.
func (c *versionTracker) holders(now rollout.Record) rollout.Record {
	if c.rollout == nil || now.State == rollout.Complete {
		return now
	}
	reached := c.rollout.Holds()
	now.Reached, now.Kept = reached.String(), map[string]string{}
	kept := map[string]rollout.Set{}
	for _, k := range c.kept {
		kept[k.digest] = kept[k.digest].Join(k.reached)
	}
	room := rollout.MostKept
	for _, digest := range slices.Sorted(maps.Keys(kept)) {
		kept[digest].Remove(reached)
		text, count := kept[digest].Cut(room)
		if room -= count; text != "" {
			now.Kept[digest] = text
		}
	}
	return now
}

// outdated are the digests of versions that wait to be replaced, and were made with a
// CRD of another generation, or are not here since they did not fit it.
func (c *versionTracker) outdated(generation int64) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		return nil
	}
	var digests []string
	add := func(digest string, v *observe.Version) {
		if digest != "" && (v == nil || v.Kind != nil && v.Kind.CRD.Object.Generation != generation) && !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
	}
	add(c.base, c.running)
	for _, k := range c.kept {
		add(k.digest, k.version)
	}
	return digests
}

// replace replaces versions, by digest, and reports whether others serve than before;
// what those that are nil serve is held, and why says why.
func (c *versionTracker) replace(by map[string]*observe.Version, why string) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = why
	if v, found := by[c.base]; found {
		c.running, changed = v, v != c.running
	}
	for i, k := range c.kept {
		if v, found := by[k.digest]; found {
			c.kept[i].version, changed = v, changed || v != k.version
		}
	}
	return changed
}

// choose says how a resource that is about to be served is served.
func (c *versionTracker) choose(o *unstructured.Unstructured) reconcile.Choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		return reconcile.Choice{Version: c.running}
	}
	before := c.before(o.GetUID())
	held := reconcile.Choice{Version: before}
	if before == nil {
		held = reconcile.Choice{Version: c.next, Frozen: true, Why: c.lost}
	}
	if c.rollout == nil { // the preview runs
		return held
	}
	decided := c.rollout.Choose(labelled(o))
	if decided.NotPreviewed && before == nil { // else once it is served
		c.rollout.Due(resource(o))
		c.trigger()
	}
	held.RollsOut = decided.Changes
	switch {
	case decided.New:
		mine := c.rollout
		return reconcile.Choice{Version: c.next, MayDelete: func(gk apischema.GroupKind, child metav1.Object) error {
			return c.mayDelete(mine, resource(o), rollout.ChildOf(gk, child))
		}}
	case decided.Failed != "":
		held.Refused = "the changed folder cannot be rendered, so the resource stays as it was: " + decided.Failed
	}
	return held
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

func resource(o metav1.Object) rollout.Resource {
	return rollout.Resource{Name: reconcile.Key(o), UID: o.GetUID(), Generation: o.GetGeneration(),
		Paused: o.GetAnnotations()[api.AnnotationPaused] == "true"}
}

// labelled is a resource with its labels, by which a wave may select it.
func labelled(o metav1.Object) rollout.Resource {
	r := resource(o)
	r.Labels = o.GetLabels()
	return r
}

// served takes up what came of serving a resource.
func (c *versionTracker) served(o *unstructured.Unstructured, came reconcile.Outcome) {
	if c.kindPaused() { // it was only looked at
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := resource(o)
	if came.Ready && c.forced[now.Name] {
		delete(c.forced, now.Name)
		c.trigger()
	}
	if c.rollout == nil {
		return
	}
	c.rollout.Due(now) // also in a revert, where the version before has the digest of the next one
	if came.Version.Digest == c.next.Digest && !now.Paused {
		c.rollout.Served(now, rollout.Outcome{Digest: came.Version.Digest, Ready: came.Ready, WouldBeReady: came.WouldBeReady,
			Failed: came.Failed, Refused: came.Refused, Forbidden: came.Forbidden})
	}
	c.trigger()
}
