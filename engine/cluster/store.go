package cluster

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A store is what one watch delivers: a kind in one namespace or in all. It is the
// store of a reflector. Everything in it is guarded by its kind's mutex. It has many
// fields since it is the store, the index, and what the watch is known to have missed.
type store struct {
	watch     *kindWatch
	namespace string // empty: all, or a cluster-scoped kind

	items   map[types.NamespacedName]live.Object
	grouped map[group]map[types.NamespacedName]bool
	stubs   int // of the items
	synced  bool
	// passed is the latest resourceVersion that the watch delivered: anything
	// up to it that is not in items is gone.
	passed string
	// asked is the kind's tick when the latest list was asked for, and began
	// the same of the list that came in last.
	asked, began uint64
	// dropped are the uids whose deletion came while a look lists; else nil.
	dropped map[types.UID]bool
	troubles
	streams bool  // the latest list was asked for by a watch
	refused error // why such a watch did not begin
	past    past  // read and written by the reflector alone
	loop    *Loop // lists and watches into the store
	// isRenewed: the next list may show other objects of the same resourceVersion.
	isRenewed bool
}

var (
	_ cache.ReflectorStore         = &store{}
	_ cache.ReflectorBookmarkStore = &store{}
	_ cache.TransformingStore      = &store{}
)

func newStore(f *kindWatch, namespace string) *store {
	s := &store{watch: f, namespace: namespace}
	s.clearAll()
	return s
}

// clearAll forgets all objects.
func (s *store) clearAll() {
	s.items = map[types.NamespacedName]live.Object{}
	s.grouped = map[group]map[types.NamespacedName]bool{}
}

// Add takes an object that the watch delivered.
func (s *store) Add(obj any) error { return s.Update(obj) }

// Update takes an object that the watch delivered.
func (s *store) Update(obj any) error {
	k := s.watch.kind
	l, err := live.Of(k.scope.GroupVersionKind, obj)
	if err != nil {
		return err
	}
	if !s.watch.wantsOwnerOf(l) {
		s.leaveOut(l)
		return nil
	}
	s.watch.deliverChange(func(o *notifications) {
		l := k.policy.reduceObject(l, s.watch.need)
		if old, had := s.items[l.Key()]; !had || !old.Same(l) {
			s.putObject(l)
			o.addChange(Change{Before: old, After: l})
		}
		if s.watch == k.current {
			k.overlay.dropDelivered(l)
		}
		s.recordVersion(l.Meta.GetResourceVersion(), o)
	})
	return nil
}

// leaveOut takes an object that is not of the part that is watched, or not any more.
func (s *store) leaveOut(l live.Object) {
	s.watch.deliverChange(func(o *notifications) {
		if old, had := s.items[l.Key()]; had {
			s.dropObject(old)
			o.addChange(Change{Before: old})
		}
		if s.watch == s.watch.kind.current {
			s.watch.kind.overlay.dropDelivered(l)
		}
		s.recordVersion(l.Meta.GetResourceVersion(), o)
	})
}

// Delete takes a deletion that the watch delivered, which is also how an
// object goes that lost our label.
func (s *store) Delete(obj any) error {
	l, err := live.Of(s.watch.kind.scope.GroupVersionKind, obj)
	if err != nil {
		return err
	}
	s.watch.kind.tellDeleted(l, l.Meta.GetResourceVersion())
	s.watch.deliverChange(func(o *notifications) {
		old, had := s.items[l.Key()]
		if had {
			s.dropObject(old)
		} else {
			old = l
		}
		if had || s.watch.wantsOwnerOf(l) {
			o.addChange(Change{Before: old})
		}
		if s.dropped != nil {
			s.dropped[l.Meta.GetUID()] = true
		}
		if s.watch == s.watch.kind.current {
			s.watch.kind.overlay.dropDeleted(l)
		}
		s.recordVersion(l.Meta.GetResourceVersion(), o)
	})
	return nil
}

// Replace takes a complete list.
func (s *store) Replace(list []any, resourceVersion string) error {
	lives := make([]live.Object, 0, len(list))
	for _, obj := range list {
		l, err := live.Of(s.watch.kind.scope.GroupVersionKind, obj)
		if err != nil {
			return err
		}
		if s.watch.wantsListed(l) {
			lives = append(lives, l)
		}
	}
	for _, l := range s.missingFrom(lives) {
		s.watch.kind.tellDeleted(l, resourceVersion)
	}
	s.watch.deliverChange(func(o *notifications) {
		fresh := newStore(s.watch, s.namespace)
		for _, l := range lives {
			fresh.putObject(s.watch.kind.policy.reduceObject(l, s.watch.need))
		}
		isSame := live.Object.Same
		if s.isRenewed {
			isSame = live.Object.Equal
		}
		o.isFirst = !s.synced
		o.addDifferences(s.items, fresh.items, isSame)
		if o.isFirst && s.watch == s.watch.kind.current && len(s.watch.stores) > 1 {
			o.add(s.watch.kind.policy.allReaders()) // though the kind as a whole may be known no better
			o.synced = s.watch.listings
		}
		if s.isRenewed && s.watch == s.watch.kind.current {
			s.isRenewed, o.synced = false, s.watch.listings
			o.add(s.watch.kind.policy.allReaders())
		}
		s.items, s.grouped, s.stubs = fresh.items, fresh.grouped, fresh.stubs
		s.synced, s.passed, s.began = true, resourceVersion, s.asked
		s.troubles.recordList(s.streams)
		s.settleOverlay(o)
	})
	return nil
}

// Transformer drops what will not be kept of an object while a list streams
// in, so that a long one is never in memory as a whole.
func (s *store) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		k := s.watch.kind
		l, err := live.Of(k.scope.GroupVersionKind, obj)
		if err != nil {
			return nil, err
		}
		if !s.watch.wantsOwnerOf(l) {
			return leftOut(l).Runtime(), nil
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		return k.policy.reduceObject(l, s.watch.need).Runtime(), nil
	}
}

// reducePage returns a page of a list with what will be kept of its objects: where a server does
// not stream lists, a long one is not in memory as a whole either.
func (s *store) reducePage(list runtime.Object) (runtime.Object, error) {
	said, err := meta.ListAccessor(list)
	if err != nil {
		return nil, err
	}
	out := &internalversion.List{ListMeta: metav1.ListMeta{ResourceVersion: said.GetResourceVersion(), Continue: said.GetContinue()}}
	keep := s.Transformer()
	err = meta.EachListItemWithAlloc(list, func(o runtime.Object) error {
		kept, err := keep(o)
		if err == nil {
			out.Items = append(out.Items, kept.(runtime.Object)) // with its metadata or whole
		}
		return err
	})
	return out, err
}

// Bookmark notes how far the watch has come without an event.
func (s *store) Bookmark(resourceVersion string) error {
	s.watch.deliverChange(func(o *notifications) { s.recordVersion(resourceVersion, o) })
	return nil
}

// Resync does nothing: nobody wants events without a change.
func (s *store) Resync() error { return nil }

// recordVersion records the newest resourceVersion that the watch has passed.
func (s *store) recordVersion(resourceVersion string, o *notifications) {
	if isNewer(resourceVersion, s.passed) {
		s.passed = resourceVersion
	}
	s.settleOverlay(o)
}

// settleOverlay ends what stands in for the watch, as far as it has caught up.
func (s *store) settleOverlay(o *notifications) {
	if s.watch == s.watch.kind.current {
		for _, l := range s.watch.kind.overlay.dropSettled(s) {
			o.addChange(Change{After: l})
		}
	}
}

// putObject stores an object.
func (s *store) putObject(l live.Object) {
	if old, had := s.items[l.Key()]; had {
		s.dropObject(old)
	}
	s.items[l.Key()] = l
	if isStub(l) {
		s.stubs++
	}
	for _, g := range s.watch.kind.policy.groupsOf(l) {
		if s.grouped[g] == nil {
			s.grouped[g] = map[types.NamespacedName]bool{}
		}
		s.grouped[g][l.Key()] = true
	}
}

// dropObject forgets an object.
func (s *store) dropObject(l live.Object) {
	delete(s.items, l.Key())
	if isStub(l) {
		s.stubs--
	}
	for _, g := range s.watch.kind.policy.groupsOf(l) {
		delete(s.grouped[g], l.Key())
		if len(s.grouped[g]) == 0 {
			delete(s.grouped, g)
		}
	}
}
