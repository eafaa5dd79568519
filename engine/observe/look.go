package observe

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	pageSize  = 500
	lookGrace = 2 * time.Second // for the watch to catch up before it is distrusted
	lookEvery = 50 * time.Millisecond
	lookLimit = 30 * time.Second // for a distrusted watch's successor to list
)

// look is the slow periodic look of Children and Reads.
func (w *watches) look(ctx context.Context, scope Scope) error {
	k := w.at(scope)
	if k == nil {
		return nil
	}
	k.looking.Lock()
	defer k.looking.Unlock()
	k.mu.Lock()
	f, trouble := k.current, k.state().Err
	listed := f != nil && f.listings
	k.mu.Unlock()
	if !listed { // its first list is a look by itself
		return trouble
	}
	agrees := true
	for _, s := range f.shards {
		same, err := k.compare(ctx, s)
		if err != nil {
			if lasting(err) {
				w.renew(k, f)
			}
			return fmt.Errorf("looking at %s of kind %s: %w", w.about, scope.Kind, err)
		}
		agrees = agrees && same
	}
	if agrees {
		return nil
	}
	return await(ctx, w.renew(k, f))
}

// compare says whether what a watch delivered agrees with a list.
func (k *kind) compare(ctx context.Context, s *shard) (bool, error) {
	var passed string
	var tick uint64
	s.feed.deliver(func(*outbox) {
		passed, tick, s.dropped = s.passed, k.stands.tick, map[types.UID]bool{}
	})
	defer s.feed.deliver(func(*outbox) { s.dropped = nil })
	listed, version, err := k.listAll(ctx, s)
	if err != nil {
		if ctx.Err() == nil && lasting(err) {
			s.feed.deliver(func(*outbox) { s.troubles.list = err })
		}
		return false, err
	}
	s.feed.deliver(func(*outbox) { s.troubles.list = nil })
	if newer(passed, version) {
		return false, nil // the past came back: this watch would wait for the old future
	}
	for deadline := time.Now().Add(lookGrace); ; {
		same := true // a feed that was stopped has a successor that lists
		s.feed.deliver(func(*outbox) {
			if same = s.agrees(listed, version); same {
				// All that was noted before the list is in it, so in items too.
				s.began = max(s.began, tick)
				k.stands.settle(s)
			}
		})
		if same || time.Now().After(deadline) {
			return same, nil
		}
		if !sleep(ctx, lookEvery) {
			return false, ctx.Err()
		}
	}
}

// listAll lists the metadata of a shard, in pages.
func (k *kind) listAll(ctx context.Context, s *shard) (map[types.NamespacedName]Live, string, error) {
	listed := map[types.NamespacedName]Live{}
	opts := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := k.clients.partial(s.feed.resource.GVR, s.namespace).List(ctx, k.narrow(opts))
		if err != nil {
			return nil, "", err
		}
		for i := range page.Items {
			l := Live{GVK: k.scope.GroupVersionKind, Meta: &page.Items[i]}
			listed[l.key()] = l
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return listed, page.ResourceVersion, nil
		}
	}
}

// agrees compares what the watch delivered with a list of the given version.
// The watch may be ahead of the list.
func (s *shard) agrees(listed map[types.NamespacedName]Live, version string) bool {
	for key, had := range s.items {
		l, found := listed[key]
		if !(found && l.same(had)) && !newer(had.Meta.GetResourceVersion(), version) {
			return false
		}
	}
	for key, l := range listed {
		if _, found := s.items[key]; !found && !s.dropped[l.Meta.GetUID()] {
			return false
		}
	}
	return true
}

// renew starts the successor of a feed, unless it has one already.
func (w *watches) renew(k *kind, f *feed) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == f && k.next == nil && !f.stopped && w.ctx.Err() == nil {
		k.next = k.start(f.need, f.resource)
	}
	return k.next
}

// await waits for a feed to be ready.
func await(ctx context.Context, f *feed) error {
	if f == nil {
		return nil
	}
	timer := time.NewTimer(lookLimit)
	defer timer.Stop()
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		f.kind.mu.Lock()
		defer f.kind.mu.Unlock()
		return together([]error{fmt.Errorf("looking at %s of kind %s: the new watch has not listed yet", f.kind.watches.about, f.kind.scope.Kind), f.trouble()})
	}
}
