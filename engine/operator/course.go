package operator

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
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/rollout"
	"github.com/jacquard-operator/jacquard/engine/share"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// A course is which versions of its folder a kind is served with: the one that
// runs, and the one that is being rolled out.
type course struct {
	// poked tells the kind's goroutine to look at the rollout.
	poked chan struct{}
	// kindPaused says whether the whole kind is observed and not changed.
	kindPaused func() bool

	mu sync.Mutex
	// running is nil while the folder that made the children is not here: then
	// what the rollout has not reached is held.
	running *reconcile.Version
	// next is the version that is being rolled out, or nil; rollout is nil
	// until next has been tried.
	next    *reconcile.Version
	rollout *rollout.Rollout
	// kept are resources that an abandoned rollout reached, and its version.
	kept map[types.NamespacedName]*reconcile.Version
	// written is the rollout's record as the CRD has it.
	written rollout.Record
	// done is the digest to put on record as rolled out, or "".
	done string
	// paused: the whole kind was paused when it was looked at last; retried is
	// when resources that could not be rendered were tried last.
	paused  bool
	retried time.Time
}

func newCourse(kindPaused func() bool) *course {
	return &course{poked: make(chan struct{}, 1), kindPaused: kindPaused}
}

// poke makes the kind's goroutine look at the rollout soon.
func (c *course) poke() {
	select {
	case c.poked <- struct{}{}:
	default:
	}
}

// A past is what the CRD says of a version before this operator serves it.
type past struct {
	// settled: the children were made by it, or there are none.
	settled bool
	// unfinished: the CRD tells of another version that is being rolled out.
	unfinished bool
}

func pastOf(crd metav1.Object, v *reconcile.Version, mine share.Share) past {
	told := rollout.Read(crd.GetAnnotations()[mine.Key(api.AnnotationRollout)])
	return past{
		settled:    crd.GetAnnotations()[mine.Key(api.AnnotationRolledOut)] == v.Digest || !hasRecord(crd),
		unfinished: told.Digest != "" && told.Digest != v.Digest && told.State != rollout.Complete,
	}
}

// take goes on with a version and says whether all resources are to be looked
// at. Poke is to follow, once what the version needs is watched.
func (c *course) take(v *reconcile.Version, before past) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	case lives && c.running.Digest == v.Digest: // back to what runs
		c.use(v)
		c.done = v.Digest
		return true
	case !lives && before.settled:
		c.use(v)
		if before.unfinished {
			c.done = v.Digest
		}
		return true
	}
	c.change(v, lives)
	return false
}

// use serves everything with a version.
func (c *course) use(v *reconcile.Version) {
	c.running, c.next, c.rollout, c.kept = v, nil, nil, nil
}

// change begins to roll out a version. What the last rollout reached stays on
// its version until this one reaches it.
func (c *course) change(v *reconcile.Version, lives bool) {
	if !lives {
		c.running = nil
	}
	if c.rollout != nil {
		if c.kept == nil {
			c.kept = map[types.NamespacedName]*reconcile.Version{}
		}
		for _, name := range c.rollout.Reached() {
			c.kept[name] = c.next
		}
	}
	c.next, c.rollout = v, nil
}

// same says whether two versions of the same digest are to be served alike.
func same(a, b *reconcile.Version) bool {
	return a.Kind.CRD.Object.Generation == b.Kind.CRD.Object.Generation && sameKinds(a, b)
}

// sameKinds says whether two versions look at the same kinds.
func sameKinds(a, b *reconcile.Version) bool {
	return maps.Equal(a.Children, b.Children) && slices.Equal(a.Patched, b.Patched)
}

// sameTrouble says whether two versions without folder say the same.
func sameTrouble(a, b *reconcile.Version) bool {
	if (a.Broken == nil) != (b.Broken == nil) || a.Broken != nil && a.Broken.Error() != b.Broken.Error() {
		return false
	}
	return a.Removed == b.Removed && sameKinds(a, b)
}

// versions are all that are served.
func (c *course) versions() []*reconcile.Version {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*reconcile.Version
	for _, v := range []*reconcile.Version{c.running, c.next} {
		if v != nil {
			all = append(all, v)
		}
	}
	for _, v := range c.kept {
		all = append(all, v)
	}
	return all
}

// children are the kinds of children of all versions, with the greater need.
func (c *course) children() map[apischema.GroupVersionKind]observe.Need {
	all := map[apischema.GroupVersionKind]observe.Need{}
	for _, v := range c.versions() {
		for gvk, need := range v.Children {
			all[gvk] = max(all[gvk], need)
		}
	}
	return all
}

// scopes are what all versions read and patch.
func (c *course) scopes() []observe.Scope {
	var all []observe.Scope
	for _, v := range c.versions() {
		for _, scope := range v.Scopes() {
			if !slices.Contains(all, scope) {
				all = append(all, scope)
			}
		}
	}
	return all
}

// pending says whether something that a version needs has not been listed yet.
func (c *course) pending(cluster reconcile.Cluster) bool {
	return slices.ContainsFunc(c.versions(), func(v *reconcile.Version) bool { return v.Pending(cluster) })
}

// good says whether some folder that loads is served.
func (c *course) good() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.next != nil || c.running != nil && c.running.Kind != nil
}

// lookAgain is how often the children are listed without an event.
func (c *course) lookAgain() time.Duration { return c.versions()[0].LookAgain() }

// before is the version that serves a resource which the rollout has not
// reached; nil means that it is held. It needs the mutex.
func (c *course) before(name types.NamespacedName) *reconcile.Version {
	if v := c.kept[name]; v != nil {
		return v
	}
	return c.running
}

// choose says how a resource that is about to be served is served.
func (c *course) choose(o *unstructured.Unstructured) reconcile.Choice {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		return reconcile.Choice{Version: c.running}
	}
	before := c.before(reconcile.Key(o))
	held := reconcile.Choice{Version: before}
	if before == nil {
		held = reconcile.Choice{Version: c.next, Hold: true}
	}
	if c.rollout == nil { // the trial runs
		return held
	}
	decided := c.rollout.Choose(resource(o))
	switch {
	case decided.New:
		mine := c.rollout
		return reconcile.Choice{Version: c.next, MayReplace: func(gk apischema.GroupKind, namespace, name string) error {
			return c.mayReplace(mine, resource(o), rollout.Child{GroupKind: gk, Namespace: namespace, Name: name})
		}}
	case decided.Failed != "":
		held.Problem = &status.Problem{Severity: status.Retry, Reason: "RolloutFailed",
			Message: "the changed folder cannot be rendered, so the resource stays as it was: " + decided.Failed}
	}
	return held
}

func (c *course) mayReplace(r *rollout.Rollout, o rollout.Resource, child rollout.Child) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := r.MayReplace(o, child); err != nil {
		c.poke()
		return err
	}
	return nil
}

func resource(o *unstructured.Unstructured) rollout.Resource {
	return rollout.Resource{Name: reconcile.Key(o), UID: o.GetUID(), Generation: o.GetGeneration(),
		Paused: o.GetAnnotations()[api.AnnotationPaused] == "true"}
}

// served takes up what came of serving a resource.
func (c *course) served(o *unstructured.Unstructured, came reconcile.Outcome) {
	if c.kindPaused() { // it was only looked at
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rollout == nil {
		return
	}
	if now := resource(o); !now.Paused {
		c.rollout.Served(now, rollout.Outcome{Digest: came.Version.Digest, Ready: came.Ready, Refused: came.Refused, Forbidden: came.Forbidden})
	}
	c.poke()
}
