package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

const (
	pageSize    = 500
	resyncGrace = 2 * time.Second // for the watch to catch up before it is distrusted
	resyncEvery = 50 * time.Millisecond
	resyncLimit = 30 * time.Second // for a distrusted watch's successor to list
)

// resyncScope lists again what a scope covers, and compares it with what the watch delivered.
func (w *watches) resyncScope(ctx context.Context, scope Scope) error {
	k := w.kindAt(scope)
	if k == nil {
		return nil
	}
	k.resyncing.Lock()
	defer k.resyncing.Unlock()
	k.mu.Lock()
	f, trouble := k.current, k.stateIn().Err
	listed := f != nil && f.listings
	var shards []*store
	if listed { // what could not be listed is tried again by itself
		shards = slices.DeleteFunc(slices.Clone(f.stores), func(s *store) bool { return !s.synced })
	}
	k.mu.Unlock()
	if !listed { // its first list is a look by itself
		return trouble
	}
	agrees := true
	for _, s := range shards {
		same, err := k.compareStore(ctx, s)
		if err != nil {
			if isLasting(err) {
				w.startSuccessor(k, f)
			}
			return fmt.Errorf("looking at %s of kind %s: %w", w.about, scope.Kind, err)
		}
		agrees = agrees && same
	}
	if agrees {
		return nil
	}
	return awaitReady(ctx, w.startSuccessor(k, f))
}

// compareStore reports whether what a watch delivered agrees with a list.
func (k *kind) compareStore(ctx context.Context, s *store) (bool, error) {
	var passed string
	var tick uint64
	s.watch.deliverChange(func(*notifications) {
		passed, tick, s.dropped = s.passed, k.overlay.tick, map[types.UID]bool{}
	})
	defer s.watch.deliverChange(func(*notifications) { s.dropped = nil })
	listed, version, err := k.listAll(ctx, s)
	if err != nil {
		if ctx.Err() == nil && isLasting(err) {
			s.watch.deliverChange(func(*notifications) { s.troubles.recordFailure(err, s.troubles.watch, time.Now()) })
		}
		return false, err
	}
	s.watch.deliverChange(func(*notifications) { s.listAllowed() })
	if isNewer(passed, version) {
		return false, nil // the past came back: this watch would wait for the old future
	}
	for deadline := time.Now().Add(resyncGrace); ; {
		same := true // a watch that was stopped has a successor that lists
		s.watch.deliverChange(func(o *notifications) {
			if same = s.agreesWith(listed, version); same {
				// All that was noted before the list is in it, so in items too.
				s.began = max(s.began, tick)
				s.settleOverlay(o)
			}
		})
		if same || time.Now().After(deadline) {
			return same, nil
		}
		if !waitFor(ctx, resyncEvery) {
			return false, ctx.Err()
		}
	}
}

// listAll lists the metadata of a store, in pages.
func (k *kind) listAll(ctx context.Context, s *store) (map[types.NamespacedName]live.Object, string, error) {
	listed := map[types.NamespacedName]live.Object{}
	opts := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := k.clients.metadataClient(s.watch.resource.GVR, s.namespace).List(ctx, s.watch.kind.narrowOptions(opts))
		if err != nil {
			return nil, "", err
		}
		for i := range page.Items {
			if l := (live.Object{GVK: k.scope.GroupVersionKind, Meta: &page.Items[i]}); s.watch.wantsOwnerOf(l) {
				listed[l.Key()] = l
			}
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return listed, page.ResourceVersion, nil
		}
	}
}

// agreesWith compares what the watch delivered with a list of the given version. The watch may be
// ahead of the list.
func (s *store) agreesWith(listed map[types.NamespacedName]live.Object, version string) bool {
	for key, had := range s.items {
		l, found := listed[key]
		if !(found && l.Same(had)) && !isNewer(had.Meta.GetResourceVersion(), version) {
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

// startSuccessor starts the successor of a watch, unless it has one already.
func (w *watches) startSuccessor(k *kind, f *kindWatch) *kindWatch {
	w.mu.Lock()
	defer w.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == f && k.next == nil && !f.stopped && w.ctx.Err() == nil {
		k.next = k.start(f.need, f.resource)
	}
	return k.next
}

// awaitReady waits for a watch to be ready.
func awaitReady(ctx context.Context, f *kindWatch) error {
	if f == nil {
		return nil
	}
	timer := time.NewTimer(resyncLimit)
	defer timer.Stop()
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		f.kind.mu.Lock()
		defer f.kind.mu.Unlock()
		err := fmt.Errorf("looking at %s of kind %s: the new watch has not listed yet", f.kind.watches.about, f.kind.scope.Kind)
		return joinErrors([]error{err, f.troubleIn()})
	}
}
