package controller

import (
	"maps"
	"slices"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/kind"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/locks"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// A kindVersions knows which versions serve the resources of a kind. It connects the many
// reconciliations of a kind to its one rollout, and is safe for concurrent use. Each of its parts
// has one task.
type kindVersions struct {
	*servingState
	versionChooser
	rolloutStepper
	rolloutRecorder
}

// A versionChooser chooses the version that serves a resource, and takes in the outcome.
type versionChooser struct{ *servingState }

// A rolloutStepper previews resources and advances the rollout.
type rolloutStepper struct{ *servingState }

// A rolloutRecorder decides what is recorded, and reported, of the rollout.
type rolloutRecorder struct{ *servingState }

// A servingState is which versions serve the resources of a kind.
type servingState struct {
	// wake enqueues the kind, so that its rollout is advanced. isPaused reports whether the whole
	// kind is observed and not changed.
	wake     func()
	isPaused func() bool
	// readMarks returns the revisions that the children of a resource carry.
	readMarks func(types.UID) []rollout.Revision

	mu locks.Mutex // no other mutex is acquired while it is held
	// versions serve resources: the base first, the target last. While nothing is rolled out,
	// there is one.
	versions []servedVersion
	paused   bool
	// record is that of the CRD, and rollback the one that the target carries out, or zero.
	record   rollout.Record
	rollback rollout.Rollback
	// rollout takes the target to all resources; it is nil if one version serves all of them.
	// began is when this process began it, and retried when resources that could not be rendered
	// were previewed last.
	rollout        *rollout.Rollout
	began, retried time.Time
	// earlier is which abandoned revision serves a resource: as this process took it there, or
	// as its children said first, which may go or change later.
	earlier map[types.UID]rollout.Revision
	// recovered are resources that a complete rollout has passed, according to the record, and
	// that are ready or gone by now.
	recovered map[types.NamespacedName]bool
	// used is the approval that was taken in last, while the CRD has it.
	used     string
	progress progressClock
}

// A servedVersion serves resources, or will. Without a version, these are frozen, and err is the
// reason.
type servedVersion struct {
	rollout.Revision
	version *observe.Version
	err     error
}

// newKindVersions returns kindVersions without any version; adoptVersions must be called before chooseVersion.
func newKindVersions(wake func(), isPaused func() bool) *kindVersions {
	s := &servingState{wake: wake, isPaused: isPaused, readMarks: func(types.UID) []rollout.Revision { return nil }}
	return &kindVersions{s, versionChooser{s}, rolloutStepper{s}, rolloutRecorder{s}}
}

// adoptVersions adopts the versions of a desired state, and what is on record. It begins a rollout if the
// target has changed, and reports whether resources may be served differently now.
func (c *kindVersions) adoptVersions(d kinds.Desired, record rollout.Record, versions []servedVersion, now time.Time) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, recorded, wasPaused := c.versions, c.record, c.paused
	for i, v := range versions {
		versions[i] = reuseVersion(before, v)
	}
	target, isNew := versions[len(versions)-1], true
	if len(before) > 0 {
		isNew = before[len(before)-1].Revision != target.Revision
	}
	c.versions, c.record, c.rollback, c.paused = versions, record, d.Rollback, d.Paused
	if !slices.Equal(record.Passed, recorded.Passed) {
		c.recovered = nil
	}
	mayMove := recorded.Target() != record.Target() // what marks children must be on record
	switch {
	case !d.IsRollingOut():
		c.rollout, c.earlier = nil, nil
		return isNew || mayMove || before[len(before)-1].version != target.version
	case c.rollout == nil || isNew:
		c.beginRollout(before, d, now)
	case wasPaused && !d.Paused:
		c.rollout.RestartDeadline(now)
	}
	c.rollout.Halt(d.Halted, now)
	return mayMove || !isNew && !slices.EqualFunc(before, versions, func(a, b servedVersion) bool { return a.version == b.version })
}

// reuseVersion returns a version, or the one that serves already if it is the same: a preview
// with it may be under way.
func reuseVersion(before []servedVersion, v servedVersion) servedVersion {
	if v.version == nil {
		return v
	}
	for _, b := range before {
		if b.Revision == v.Revision && b.version != nil && isSameVersion(b.version, v.version) {
			return b
		}
	}
	marked := *v.version
	if v.Digest != "" {
		marked.Revision = v.Revision.String()
	}
	v.version = &marked
	return v
}

// isSameVersion reports whether two versions of the same revision serve resources alike.
func isSameVersion(a, b *observe.Version) bool {
	if !maps.Equal(a.Children, b.Children) || !slices.Equal(a.Patched, b.Patched) {
		return false
	}
	if a.Kind != nil && b.Kind != nil {
		return a.Kind.CRD.Object.Generation == b.Kind.CRD.Object.Generation
	}
	isSameTrouble := a.Broken == nil && b.Broken == nil || a.Broken != nil && b.Broken != nil && a.Broken.Error() == b.Broken.Error()
	return a.Kind == b.Kind && a.Removed == b.Removed && isSameTrouble
}

// beginRollout begins to roll out the target, or continues what an earlier process began. The
// caller must hold the mutex.
func (c *kindVersions) beginRollout(before []servedVersion, d kinds.Desired, now time.Time) {
	if c.rollout != nil {
		abandoned := before[len(before)-1].Revision
		for _, uid := range c.rollout.ServedResources() {
			if c.earlier == nil {
				c.earlier = map[types.UID]rollout.Revision{}
			}
			c.earlier[uid] = abandoned
		}
	}
	target := c.versions[len(c.versions)-1].version
	settings := rollout.Settings{Rollout: target.Kind.Settings.Rollout, Revisions: d.Revisions(), IsRevert: d.IsRevert,
		Approved: d.Rollback.Approved}
	c.rollout, c.began, c.retried = rollout.New(settings, c.record, now), now, now
}

// targetVersion returns the version that serves every resource, or eventually will. The caller must
// hold the mutex.
func (c *servingState) targetVersion() servedVersion { return c.versions[len(c.versions)-1] }

// listVersions returns all versions that serve resources.
func (c *kindVersions) listVersions() versionList {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all versionList
	for _, s := range c.versions {
		if s.version != nil {
			all = append(all, s.version)
		}
	}
	return all
}

// findVersion returns the version with a digest, or nil, and the number of the target if that is it.
func (c *kindVersions) findVersion(digest string) (v *observe.Version, number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.versions {
		if s.Digest != digest {
			continue
		}
		if v = s.version; i == len(c.versions)-1 {
			number = s.Number
		}
	}
	return v, number
}

// isRollingOut reports whether a version is being rolled out.
func (c *kindVersions) isRollingOut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rollout != nil
}

// concernsResources reports whether it matters to a rollout, or to what is on record of one, that a
// resource is gone.
func (c *kindVersions) concernsResources() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rollout != nil || len(c.listPassed()) > 0
}

// A versionList has versions of one kind.
type versionList []*observe.Version

// childKinds returns the kinds of children of all versions, with what any of them needs.
func (l versionList) childKinds() map[apischema.GroupVersionKind]live.Need {
	all := map[apischema.GroupVersionKind]live.Need{}
	for _, v := range l {
		for gvk, need := range v.Children {
			all[gvk] = all[gvk].Merge(need)
		}
	}
	return all
}

// readScopes returns what all versions read and patch, with what any of them needs of it.
func (l versionList) readScopes() map[cluster.Scope]live.Need {
	all := map[cluster.Scope]live.Need{}
	for _, v := range l {
		for scope, need := range v.Scopes() {
			all[scope] = all[scope].Merge(need)
		}
	}
	return all
}

// isPending reports whether something that a version needs has not been listed yet.
func (l versionList) isPending(in observe.Caches) bool {
	return slices.ContainsFunc(l, func(v *observe.Version) bool { return v.IsPending(in) })
}

// resyncInterval returns how often the children are listed without an event.
func (c *kindVersions) resyncInterval() time.Duration { return c.listVersions()[0].ResyncInterval() }

// compiledKinds returns the compiled folders, nil for a version without one.
func (l versionList) compiledKinds() (all []*kind.Kind) {
	for _, v := range l {
		all = append(all, v.Kind)
	}
	return all
}
