package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/locks"
	"github.com/jacquard-operator/jacquard/engine/reconcile"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// A portion is a kind's resources in one namespace, or in all, as far as this process is
// to know them. It is a cache with a watch of its own: a
// namespace that is gone, or in which the operator has no permissions any more, does not
// affect the others.
//
// It is client-go's reflector over a store of its own, since an informer cannot come to
// know more or less than at first.
type portion struct {
	kind      string // the name of the CRD
	namespace string // "": all
	// source returns where the resources come from.
	source func() cache.ListerWatcher
	// told is called when a trouble came or went, and listed when a list came in.
	told, listed func()
	trouble      atomic.Pointer[trouble]
	// isUnwatchable: no right allows the latest watch. A list does not end that trouble.
	isUnwatchable atomic.Bool

	// delivering is held while a change is taken and told of, so that changes are told of
	// in their order; mu is taken after it, and held by nobody who is told.
	delivering sync.Mutex
	mu         locks.Mutex
	items      map[cache.ObjectName]*live.Packed
	synced     bool
	first      chan struct{} // closed when synced becomes true; nil if nobody waits
	// selected is what items are all of, and wanted what they are to be; chosen ends the
	// watch of what was wanted before.
	selected, wanted choice
	chosen           context.CancelFunc
	follower         cache.ResourceEventHandler
	// loop lists and watches what was chosen last; nil before that.
	loop *cluster.Loop
}

// A trouble is why resources could not be listed or watched.
type trouble struct {
	err error
	// at is when that was so last. since is when the API server refused first, or gave no
	// answer to, what it has not listed ever since; or zero.
	at, since time.Time
}

// fresh is how long a trouble counts that did not come again: a watch tries again
// at least every half a minute.
const fresh = 2 * time.Minute

// recordFailure records why resources could not be listed or watched, and logs each new reason.
func (p *portion) recordFailure(ctx context.Context, err error) {
	if ctx.Err() != nil || apierrors.IsResourceExpired(err) {
		return
	}
	before := p.trouble.Load()
	now := &trouble{err: cluster.Steady(err), at: time.Now()}
	now.since = refusedSince(err, now.at)
	if before != nil && !before.since.IsZero() && !now.since.IsZero() {
		now.since = before.since
		var silent *cluster.SilentError
		if errors.As(err, &silent) { // the next try waits too: what the server answered to the last is the cause
			now.err = before.err
		}
	}
	p.trouble.Store(now)
	if before == nil || before.err.Error() != now.err.Error() {
		log.FromContext(ctx).Error(now.err, p.describePlace()+" cannot be listed or watched", "kind", p.kind)
		p.told()
	}
}

// refusedSince is since when the API server does not list what it refused, or gave no
// answer to; zero if it was not reached.
func refusedSince(err error, now time.Time) time.Time {
	var silent *cluster.SilentError
	var late *transport.TimeoutError
	switch {
	case errors.As(err, &silent):
		return now.Add(-silent.For)
	case errors.As(err, &late):
		return now.Add(-late.Limit)
	case cluster.IsRefusal(err):
		return now
	}
	return time.Time{}
}

// recordRecovery records that resources are listed or watched.
func (p *portion) recordRecovery() {
	if p.trouble.Swap(nil) != nil {
		p.told()
	}
}

// describePlace names the resources for people.
func (p *portion) describePlace() string {
	if p.namespace == "" {
		return "resources"
	}
	return "resources in namespace " + p.namespace
}

// isForbidden reports whether the resources may not be listed as far as is known.
func (p *portion) isForbidden() bool {
	t := p.trouble.Load()
	return t != nil && apierrors.IsForbidden(t.err) && (!p.hasSynced() || time.Since(t.at) < fresh)
}

// refusedFor reports whether the API server has refused to list the resources for some
// time, or that no right allows it: nobody is to wait for them.
func (p *portion) refusedFor(d time.Duration) bool {
	t := p.trouble.Load()
	return p.isForbidden() || t != nil && !t.since.IsZero() && time.Since(t.since) >= d
}

// isSilentFor reports whether the list of the resources has made no progress for some time.
// While there is a trouble, that decides.
func (p *portion) isSilentFor(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trouble.Load() == nil && p.loop != nil && p.loop.Silence() >= d
}

// portions are a kind's resources, as far as they are known.
type portions []*portion

var _ reconcile.Resources = portions{}

// Get returns a resource, decoded anew. What is in a namespace that is not served is
// not found, and what is not known is an error.
func (all portions) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	resource, ok := into.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("reading a resource: into a %T", into)
	}
	o, err := all.findResource(name)
	if err != nil {
		return err
	}
	if o == nil {
		gvk := into.GetObjectKind().GroupVersionKind()
		return apierrors.NewNotFound(apischema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, name.Name)
	}
	unpacked, err := o.Unpack()
	if err == nil {
		resource.Object = unpacked.Object
	}
	return err
}

// findResource returns a resource as the cache has it, or nil if there is none of that name. It is
// an error if that is not known.
func (all portions) findResource(name client.ObjectKey) (*live.Packed, error) {
	for _, p := range all {
		switch {
		case p.namespace != "" && p.namespace != name.Namespace:
		default:
			o, known := p.get(cache.NewObjectName(name.Namespace, name.Name))
			if !known {
				return nil, errors.New("they have not been listed yet")
			}
			return o, nil
		}
	}
	return nil, nil
}

// listKnown returns the resources that are known.
func (all portions) listKnown() (known []*live.Packed) {
	for _, p := range all {
		known = append(known, p.listKnown()...)
	}
	return known
}

// areListed reports whether the resources are known, but for those in namespaces in which they
// cannot be listed.
func (all portions) areListed() bool {
	some := false
	for _, p := range all {
		if !p.hasSynced() && !p.refusedFor(cluster.LastingAfter) {
			return false
		}
		some = some || p.hasSynced()
	}
	return some
}

// areUndecided reports whether some resources are neither listed nor refused for good: time alone may
// decide.
func (all portions) areUndecided() bool {
	return slices.ContainsFunc(all, func(p *portion) bool { return !p.hasSynced() && !p.refusedFor(cluster.LastingAfter) })
}

// areListing reports whether resources are being listed, and nothing is known to be wrong with
// that.
func (all portions) areListing() bool {
	return slices.ContainsFunc(all, func(p *portion) bool { return !p.has(p.wantedChoice()) && p.trouble.Load() == nil })
}

// describeTroubles says where the resources cannot be listed or watched, and why. hasLasted leaves
// out what may pass in a moment.
func (all portions) describeTroubles(hasLasted bool) (texts []string) {
	for _, p := range all {
		if t := p.trouble.Load(); t != nil && (p.refusedFor(cluster.LastingAfter) || !hasLasted && !apierrors.IsForbidden(t.err)) {
			texts = append(texts, p.describePlace()+" cannot be listed: "+t.err.Error())
		}
	}
	return texts
}

// countTroubles returns in how many namespaces the resources may not be listed, and in how many
// they cannot be although they may.
func (all portions) countTroubles() (forbidden, failing int) {
	for _, p := range all {
		switch {
		case p.isForbidden():
			forbidden++
		case p.trouble.Load() != nil:
			failing++
		}
	}
	return forbidden, failing
}

// renewLists lists the resources again at once, since their CRD changed.
func (all portions) renewLists() {
	for _, p := range all {
		p.renewList()
	}
}

// wakeWatches tries at once what could not be listed or watched.
func (all portions) wakeWatches() {
	for _, p := range all {
		p.mu.Lock()
		if p.loop != nil {
			p.loop.Wake()
		}
		p.mu.Unlock()
	}
}

// runAll watches until ctx ends.
func (all portions) runAll(ctx context.Context) {
	var running sync.WaitGroup
	for _, p := range all {
		running.Go(func() { p.run(ctx) })
	}
	running.Wait()
}

// setWanted says what is to be known from now on. What is known stays so until that has been
// listed.
func (all portions) setWanted(wanted choice) {
	for _, p := range all {
		p.setWanted(wanted)
	}
}

// haveWanted reports whether the resources that were chosen last are known, but for those that the
// API server has refused to list, or has not answered about, for some time.
func (all portions) haveWanted() bool {
	return !slices.ContainsFunc(all, func(p *portion) bool {
		return !p.has(p.wantedChoice()) && !p.refusedFor(refusedLimit) && !p.isSilentFor(silentLimit)
	})
}

// haveChosen reports whether just these resources are known, but for those that the API server
// refuses to list.
func (all portions) haveChosen(wanted choice) bool {
	return !slices.ContainsFunc(all, func(p *portion) bool { return !p.has(wanted) && !p.refusedFor(cluster.LastingAfter) })
}
