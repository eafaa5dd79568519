package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A kindWatch is the running watches of a kind: one store for each namespace that
// is watched, or one for all. It is guarded by its kind's mutex.
type kindWatch struct {
	kind     *kind
	need     live.Need
	resource live.Resource
	part     Part
	stores   []*store
	cancel   context.CancelFunc
	stopped  bool
	// ready is closed when every store has listed, or the watch is stopped.
	ready    chan struct{}
	listings bool // ready was closed because of lists
}

// deliverChange runs fn under the kind's mutex and then sends the notifications, in the order of the
// changes. A watch that was stopped delivers nothing any more.
func (f *kindWatch) deliverChange(fn func(*notifications)) {
	f.kind.delivering.Lock()
	defer f.kind.delivering.Unlock()
	if o := f.deliverTo(fn); o != nil {
		f.kind.sendNotifications(o)
	}
}

// deliverTo runs fn; what is to be told is nil where nothing was delivered. The
// mutex is free afterwards also where fn panics.
func (f *kindWatch) deliverTo(fn func(*notifications)) *notifications {
	k := f.kind
	k.mu.Lock()
	defer k.mu.Unlock()
	if f.stopped {
		return nil
	}
	o := k.newNotifications()
	o.mute = f != k.current
	before := k.stateIn()
	fn(o)
	f.becomeReady(o)
	o.addTransition(before, k.stateIn())
	return o
}

// becomeReady makes the watch ready once every store has listed that may, and puts it in the place
// of the watch that it is to follow.
func (f *kindWatch) becomeReady(o *notifications) {
	k := f.kind
	if f == k.next && k.isPacked && f.part.Name != k.current.part.Name {
		f.inheritStuck(k.current)
	}
	if f.listings || !f.hasListed() || f == k.next && f.knowsLess(k.current) {
		return
	}
	f.listings = true
	close(f.ready)
	if f == k.current {
		o.synced = true
		return
	}
	before, last := k.viewAll(), k.current
	k.current, k.next = f, nil
	o.mute, o.isFirst, o.synced = false, false, !last.need.Covers(f.need) || last.part.Name != f.part.Name
	for _, s := range f.stores {
		s.settleOverlay(o)
	}
	o.addDifferences(before, k.viewAll(), live.Object.Same)
	if !last.need.Covers(f.need) {
		o.add(k.policy.allReaders())
	}
	last.stop()
}

func (f *kindWatch) stop() {
	if f == nil || f.stopped {
		return
	}
	f.stopped = true
	f.cancel()
	if !f.listings {
		close(f.ready)
	}
}

// hasListed reports whether every store has listed, but for those in lasting trouble: a namespace
// that is gone, or that the operator has no rights in any more, keeps nobody from the others.
func (f *kindWatch) hasListed() bool {
	some := false
	for _, s := range f.stores {
		if !s.synced && !s.isStuck() {
			return false
		}
		some = some || s.synced
	}
	return some
}

// inheritStuck takes over what the last watch knows where this one cannot list, as far as it is of the
// part: one namespace keeps the resources of the others from nobody.
func (f *kindWatch) inheritStuck(last *kindWatch) {
	for n, s := range f.stores {
		if s.synced || !s.isStuck() || n >= len(last.stores) || !last.stores[n].synced {
			continue
		}
		for _, l := range last.stores[n].items {
			if f.wantsOwnerOf(l) {
				s.putObject(l)
			}
		}
		s.synced = true
	}
}

// knowsLess reports whether the watch does not know yet what the last one knows.
func (f *kindWatch) knowsLess(last *kindWatch) bool {
	for n, s := range f.stores {
		if !s.synced && n < len(last.stores) && last.stores[n].synced && !last.stores[n].isStuck() {
			return true
		}
	}
	return false
}

// storesIn returns the stores of some namespaces, or, without any, all.
func (f *kindWatch) storesIn(in []string) []*store {
	if len(in) == 0 {
		return f.stores
	}
	return slices.DeleteFunc(slices.Clone(f.stores), func(s *store) bool { return s.namespace != "" && !slices.Contains(in, s.namespace) })
}

// isSyncedIn reports whether some namespaces are listed, or, without any, all.
func (f *kindWatch) isSyncedIn(in ...string) bool {
	for _, s := range f.storesIn(in) {
		if !s.synced {
			return false
		}
	}
	return true
}

// isStuckIn reports whether there is lasting trouble in some namespaces, or, without any, in one of
// all.
func (f *kindWatch) isStuckIn(in ...string) bool {
	return slices.ContainsFunc(f.storesIn(in), (*store).isStuck)
}

// inheritTroubles takes over what keeps the watch that f replaces from listing, until f
// knows better.
func (f *kindWatch) inheritTroubles(before *kindWatch) {
	for n, s := range f.stores {
		if n < len(before.stores) {
			s.troubles = before.stores[n].troubles
		}
	}
}

// troubleIn returns the trouble in some namespaces, or, without any, in all.
func (f *kindWatch) troubleIn(in ...string) error {
	errs := make([]error, 0, len(f.stores))
	for _, s := range f.storesIn(in) {
		errs = append(errs, s.asError(live.RuleError{Resource: f.resource.GVR.GroupResource(), Namespace: s.namespace, Name: f.kind.scope.Name}))
	}
	return joinErrors(errs)
}

// allObjects returns the objects of all stores.
func (f *kindWatch) allObjects() map[types.NamespacedName]live.Object {
	all := map[types.NamespacedName]live.Object{}
	for _, s := range f.stores {
		maps.Copy(all, s.items)
	}
	return all
}

// newStoreLoop returns the loop that lists and watches into a store. A panic ends one list and
// watch: what an object is that could not be taken is not known, and shows in State, until a list
// goes well.
func (f *kindWatch) newStoreLoop(ctx context.Context, s *store, source cache.ListerWatcher) *Loop {
	gvk := f.resource.GVK
	var expected runtime.Object = &live.Packed{}
	switch {
	case f.kind.isPacked:
	case f.need == live.Metadata:
		expected = &metav1.PartialObjectMetadata{}
	case f.need == live.Body:
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		expected = u
	}
	about := f.kind.watches.about
	return NewLoop(LoopOptions{
		Name: about, Description: gvk.String(), Source: source, Expected: expected, Store: s,
		Failed: func(err error) {
			f.deliverChange(func(*notifications) {
				var silent *SilentError
				isKnown := s.troubles.list != nil || s.troubles.watch != nil // source knows more of what the server answered
				if errors.As(err, &silent) {
					isKnown = isRefusal(s.troubles.list) || isRefusal(s.troubles.watch)
				}
				if ctx.Err() == nil && !isKnown {
					s.troubles.list = err
				}
			})
		},
		Guard: func(do func()) error { return f.kind.runGuarded("watching "+about, do) },
	})
}

// errorText returns the text of an error, or "" for none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
