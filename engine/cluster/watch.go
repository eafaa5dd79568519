package cluster

import (
	"context"
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

// deliver runs fn under the kind's mutex and tells the outcome afterwards. A
// watch that was stopped delivers nothing any more.
func (f *kindWatch) deliver(fn func(*notifications)) {
	if o := f.deliverTo(fn); o != nil {
		f.kind.notified(o)
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
	o := k.notifications()
	o.mute = f != k.current
	before := k.state()
	fn(o)
	f.listed(o)
	o.turned(before, k.state())
	return o
}

// listed makes the watch ready once every store has listed that may, and puts it
// in the place of the watch that it is to follow.
func (f *kindWatch) listed(o *notifications) {
	k := f.kind
	if f.listings || !f.settled() || f == k.next && f.forgets(k.current) {
		return
	}
	f.listings = true
	close(f.ready)
	if f == k.current {
		o.synced = true
		return
	}
	before, last := k.view(), k.current
	k.current, k.next = f, nil
	o.mute, o.synced = false, !last.need.Covers(f.need) || last.part.Name != f.part.Name
	for _, s := range f.stores {
		s.settle(o)
	}
	o.differences(before, k.view())
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

// settled reports whether every store has listed, but for those in lasting trouble:
// a namespace that is gone, or that the operator has no rights in any more, keeps
// nobody from the others.
func (f *kindWatch) settled() bool {
	some := false
	for _, s := range f.stores {
		if !s.synced && !s.stuck() {
			return false
		}
		some = some || s.synced
	}
	return some
}

// forgets reports whether the watch does not know yet what the last one knows.
func (f *kindWatch) forgets(last *kindWatch) bool {
	for n, s := range f.stores {
		if !s.synced && n < len(last.stores) && last.stores[n].synced && !last.stores[n].stuck() {
			return true
		}
	}
	return false
}

// among are the stores of some namespaces; of none: all.
func (f *kindWatch) among(in []string) []*store {
	if len(in) == 0 {
		return f.stores
	}
	return slices.DeleteFunc(slices.Clone(f.stores), func(s *store) bool { return s.namespace != "" && !slices.Contains(in, s.namespace) })
}

func (f *kindWatch) synced(in ...string) bool {
	for _, s := range f.among(in) {
		if !s.synced {
			return false
		}
	}
	return true
}

// stuck reports whether there is lasting trouble in some namespaces; none: in any.
func (f *kindWatch) stuck(in ...string) bool {
	return slices.ContainsFunc(f.among(in), (*store).stuck)
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

func (f *kindWatch) trouble(in ...string) error {
	errs := make([]error, 0, len(f.stores))
	for _, s := range f.among(in) {
		errs = append(errs, s.err(live.RuleError{Resource: f.resource.GVR.GroupResource(), Namespace: s.namespace, Name: f.kind.scope.Name}))
	}
	return together(errs)
}

func (f *kindWatch) all() map[types.NamespacedName]live.Object {
	all := map[types.NamespacedName]live.Object{}
	for _, s := range f.stores {
		maps.Copy(all, s.items)
	}
	return all
}

// loop lists and watches into a store. A panic ends one list and watch: what an object
// is that could not be taken is not known, and shows in State, until a list goes well.
func (f *kindWatch) loop(ctx context.Context, s *store, source cache.ListerWatcher) *Loop {
	gvk := f.resource.GVK
	var expected runtime.Object = &live.Packed{}
	switch f.need {
	case live.Metadata:
		expected = &metav1.PartialObjectMetadata{}
	case live.Body:
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		expected = u
	}
	about := f.kind.watches.about
	return NewLoop(LoopOptions{
		Name: about, Description: gvk.String(), Source: source, Expected: expected, Store: s,
		Failed: func(err error) {
			f.deliver(func(*notifications) {
				if ctx.Err() == nil && s.troubles.list == nil && s.troubles.watch == nil { // source knows more of what the server answered
					s.troubles.list = err
				}
			})
		},
		Guard: func(do func()) error { return f.kind.guarded("watching "+about, do) },
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
