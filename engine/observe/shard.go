package observe

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// A shard is what one watch delivers: a kind in one namespace or in all. It is
// the store of a reflector. Everything in it is guarded by its kind's mutex.
type shard struct {
	feed      *feed
	namespace string // empty: all, or a cluster-scoped kind

	items   map[types.NamespacedName]Live
	grouped map[group]map[types.NamespacedName]bool
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
}

var (
	_ cache.ReflectorStore         = &shard{}
	_ cache.ReflectorBookmarkStore = &shard{}
	_ cache.TransformingStore      = &shard{}
)

func newShard(f *feed, namespace string) *shard {
	s := &shard{feed: f, namespace: namespace}
	s.clear()
	return s
}

func (s *shard) clear() {
	s.items = map[types.NamespacedName]Live{}
	s.grouped = map[group]map[types.NamespacedName]bool{}
}

// Add takes an object that the watch delivered.
func (s *shard) Add(obj any) error { return s.Update(obj) }

// Update takes an object that the watch delivered.
func (s *shard) Update(obj any) error {
	k := s.feed.kind
	l, err := liveOf(k.scope.GroupVersionKind, obj)
	if err != nil {
		return err
	}
	s.feed.deliver(func(o *outbox) {
		l := k.keeper.keep(l, s.feed.need)
		old, had := s.items[l.key()]
		if !had || !old.same(l) {
			s.put(l)
			o.change(l)
			if had {
				o.change(old)
			}
		}
		if s.feed == k.current {
			k.stands.delivered(l)
		}
		s.pass(l.Meta.GetResourceVersion())
	})
	return nil
}

// Delete takes a deletion that the watch delivered, which is also how an
// object goes that lost our label.
func (s *shard) Delete(obj any) error {
	l, err := liveOf(s.feed.kind.scope.GroupVersionKind, obj)
	if err != nil {
		return err
	}
	s.feed.deliver(func(o *outbox) {
		if old, had := s.items[l.key()]; had {
			s.drop(old)
			o.change(old)
		}
		o.change(l)
		if s.dropped != nil {
			s.dropped[l.Meta.GetUID()] = true
		}
		if s.feed == s.feed.kind.current {
			s.feed.kind.stands.deleted(l)
		}
		s.pass(l.Meta.GetResourceVersion())
	})
	return nil
}

// Replace takes a complete list.
func (s *shard) Replace(list []any, resourceVersion string) error {
	lives := make([]Live, 0, len(list))
	for _, obj := range list {
		l, err := liveOf(s.feed.kind.scope.GroupVersionKind, obj)
		if err != nil {
			return err
		}
		lives = append(lives, l)
	}
	s.feed.deliver(func(o *outbox) {
		fresh := newShard(s.feed, s.namespace)
		for _, l := range lives {
			fresh.put(s.feed.kind.keeper.keep(l, s.feed.need))
		}
		if s.synced {
			o.differences(s.items, fresh.items)
		}
		s.items, s.grouped = fresh.items, fresh.grouped
		s.synced, s.passed, s.began, s.troubles.list = true, resourceVersion, s.asked, nil
		if s.streams {
			s.troubles.watch = nil
		}
		if s.feed == s.feed.kind.current {
			s.feed.kind.stands.settle(s)
		}
		s.feed.listed(o)
	})
	return nil
}

// Transformer drops what will not be kept of an object while a list streams
// in, so that a long one is never in memory as a whole.
func (s *shard) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		k := s.feed.kind
		l, err := liveOf(k.scope.GroupVersionKind, obj)
		if err != nil {
			return nil, err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		l = k.keeper.keep(l, s.feed.need)
		if m, ok := l.Meta.(*metav1.ObjectMeta); ok {
			return &metav1.PartialObjectMetadata{ObjectMeta: *m}, nil
		}
		return l.Meta, nil
	}
}

// Bookmark notes how far the watch has come without an event.
func (s *shard) Bookmark(resourceVersion string) error {
	s.feed.deliver(func(*outbox) { s.pass(resourceVersion) })
	return nil
}

// Resync does nothing: nobody wants events without a change.
func (s *shard) Resync() error { return nil }

func (s *shard) pass(resourceVersion string) {
	if newer(resourceVersion, s.passed) {
		s.passed = resourceVersion
	}
	if s.feed == s.feed.kind.current {
		s.feed.kind.stands.settle(s)
	}
}

func (s *shard) put(l Live) {
	if old, had := s.items[l.key()]; had {
		s.drop(old)
	}
	s.items[l.key()] = l
	for _, g := range s.feed.kind.keeper.groups(l) {
		if s.grouped[g] == nil {
			s.grouped[g] = map[types.NamespacedName]bool{}
		}
		s.grouped[g][l.key()] = true
	}
}

func (s *shard) drop(l Live) {
	delete(s.items, l.key())
	for _, g := range s.feed.kind.keeper.groups(l) {
		delete(s.grouped[g], l.key())
		if len(s.grouped[g]) == 0 {
			delete(s.grouped, g)
		}
	}
}
