package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A kind is what is watched of one kind in one version, as long as somebody wants it.
// One mutex guards most of its fields.
type kind struct {
	scope   Scope
	watches *watches
	policy  storePolicy
	clients clients
	broken  error  // why there are no clients
	labels  string // the selector of what is watched
	// isPacked: its objects come packed, whatever is needed of them.
	isPacked bool
	// part says which of it is wanted now; nil: all.
	part func() Part

	resyncing sync.Mutex // one look at a time; taken before the others
	// delivering is held while a change is taken and told of, so that changes are told of in
	// their order; taken before mu.
	delivering sync.Mutex

	mu sync.Mutex
	// phase is Unsynced if the kind is served, or it is not known whether.
	phase   live.Phase
	unknown error // why it is not known whether, or how, it is served
	ended   bool  // nobody used it; who asks again gets another
	current *kindWatch
	next    *kindWatch // takes the place of current once it has listed
	overlay writeOverlay
}

func newKind(scope Scope, w *watches, c clients, of storePolicy) *kind {
	return &kind{scope: scope, watches: w, clients: c, policy: of, overlay: newWriteOverlay(), unknown: errUndiscovered}
}

// newNotifications returns notifications without content.
func (k *kind) newNotifications() *notifications { return &notifications{policy: k.policy} }

// narrowOptions restricts a list or a watch to what is watched.
func (k *kind) narrowOptions(opts metav1.ListOptions) metav1.ListOptions {
	if opts.LabelSelector == "" {
		opts.LabelSelector = k.labels
	}
	if k.scope.Name != "" {
		opts.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, k.scope.Name).String()
	}
	return opts
}

// stateIn returns what is known in some namespaces, or, without any, in all that are watched. The
// caller must hold the mutex.
func (k *kind) stateIn(in ...string) live.State {
	switch {
	case k.phase == live.NotServed:
		return live.State{Phase: live.NotServed, Err: live.ErrNotServed}
	case k.unknown != nil:
		return live.State{Err: k.unknown}
	case k.current == nil:
		return live.State{}
	}
	err, stuck := k.current.troubleIn(in...), k.current.isStuckIn(in...)
	if k.next != nil && (stuck || !k.current.need.Covers(k.next.need)) { // it tries again, or for more fields
		err = cmp.Or(k.next.troubleIn(in...), err)
	}
	if !k.current.isSyncedIn(in...) || stuck {
		return live.State{Holds: k.current.need, Err: err}
	}
	return live.State{Phase: live.Synced, Holds: k.current.need, Err: err}
}

// checkSynced returns why a kind is not known in some namespaces, or in all. It returns nil if it
// is known. The caller must hold the mutex.
func (k *kind) checkSynced(in ...string) error {
	state := k.stateIn(in...)
	switch {
	case state.Phase == live.Synced:
		return nil
	case state.Err != nil:
		return state.Err
	}
	return fmt.Errorf("%w: it is not listed yet", live.ErrNotYet)
}

// viewAll returns every live object as far as is known. The caller must hold the mutex.
func (k *kind) viewAll() map[types.NamespacedName]live.Object {
	if k.current == nil {
		return map[types.NamespacedName]live.Object{}
	}
	view := k.current.allObjects()
	for key, n := range k.overlay.entries {
		view[key] = k.policy.reduceObject(n.live, k.current.need)
	}
	return view
}

// matchAll matches every object.
func matchAll(live.Object) bool { return true }

// findObjects returns the objects of a group that match, sorted. Those of the zero group are all.
// The caller must hold the mutex.
func (k *kind) findObjects(g group, match func(live.Object) bool) []live.Object {
	found := []live.Object{}
	if k.current == nil {
		return found
	}
	add := func(s *store, key types.NamespacedName) {
		l := s.items[key]
		if _, noted := k.overlay.entries[key]; !noted && match(l) {
			found = append(found, l)
		}
	}
	for _, s := range k.current.stores {
		if g == (group{}) {
			for key := range s.items {
				add(s, key)
			}
		}
		for key := range s.grouped[g] {
			add(s, key)
		}
	}
	for _, n := range k.overlay.entries {
		if (g == (group{}) || slices.Contains(k.policy.groupsOf(n.live), g)) && match(n.live) {
			found = append(found, k.policy.reduceObject(n.live, k.current.need))
		}
	}
	slices.SortFunc(found, byKey)
	return found
}

// recordWrite takes the answer of a write, unless the watch has passed it already.
func (k *kind) recordWrite(l live.Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.recordWriteLocked(l)
}

// recordWriteLocked is recordWrite for a caller that holds the mutex.
func (k *kind) recordWriteLocked(l live.Object) {
	if k.current == nil || k.scope.Name != "" && k.scope.Name != l.Meta.GetName() {
		return
	}
	if old, had := k.overlay.entries[l.Key()]; had && old.live.Meta.GetUID() == l.Meta.GetUID() &&
		isNewer(old.live.Meta.GetResourceVersion(), l.Meta.GetResourceVersion()) {
		return
	}
	for _, s := range k.current.stores {
		if !s.coversNamespace(l.Meta.GetNamespace()) {
			continue
		}
		k.overlay.putEntry(l)
		if isNumber(l.Meta.GetResourceVersion()) && !isNewer(l.Meta.GetResourceVersion(), s.passed) {
			delete(k.overlay.entries, l.Key())
		}
		return
	}
}

// forgetAll stops the watches and drops what they delivered. The caller must hold the mutex.
func (k *kind) forgetAll() {
	k.current.stop()
	k.next.stop()
	k.current, k.next, k.overlay = nil, nil, newWriteOverlay()
}

// start makes a watch and runs it; it needs the mutex.
func (k *kind) start(need live.Need, r live.Resource) *kindWatch {
	ctx, cancel := context.WithCancel(k.watches.ctx)
	f := &kindWatch{kind: k, need: need, resource: r, part: k.wantedPart(), cancel: cancel, ready: make(chan struct{})}
	namespaces := k.watches.namespaces
	switch {
	case !r.Namespaced:
		namespaces = []string{""}
	case k.scope.Namespace != "" || len(namespaces) == 0:
		namespaces = []string{k.scope.Namespace}
	}
	for _, namespace := range namespaces {
		f.stores = append(f.stores, newStore(f, namespace))
	}
	for _, s := range f.stores {
		s.loop = f.newStoreLoop(ctx, s, k.clients.sourceFor(s))
		if f.part.IsEmpty {
			k.watches.running.Go(func() { _ = s.Replace(nil, "") }) // there is nothing that could be wrong
			continue
		}
		k.watches.running.Go(func() { s.loop.Run(ctx) })
	}
	return f
}

// renewLists lists anew in every namespace.
func (k *kind) renewLists() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.listStores() {
		s.isRenewed = true
		s.loop.Renew()
	}
}

// wakeWatches tries at once in every namespace what failed.
func (k *kind) wakeWatches() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.listStores() {
		s.loop.Wake()
	}
}

// listStores returns the stores of all namespaces. The caller must hold the mutex.
func (k *kind) listStores() (all []*store) {
	for _, f := range []*kindWatch{k.current, k.next} {
		if f != nil {
			all = append(all, f.stores...)
		}
	}
	return all
}

// wantedPart returns the part of the kind that is wanted now.
func (k *kind) wantedPart() Part {
	if k.part == nil {
		return Part{}
	}
	return k.part()
}

// sendNotifications runs the callbacks. The caller must not hold the mutex.
func (k *kind) sendNotifications(o *notifications) {
	for _, c := range o.changes {
		_ = k.runGuarded("telling of a change", func() { k.policy.notifyChange(c) })
	}
	for whose := range o.changed {
		_ = k.runGuarded("telling of a change", func() { k.policy.notifyOwner(whose) })
	}
	if o.synced {
		_ = k.runGuarded("telling of a list", func() { k.policy.notifySynced(k.scope) })
	}
	if !o.troubled {
		return
	}
	about, watched := "watching "+k.watches.about, k.scope.String()
	switch {
	case !o.otherTrouble:
	case errors.Is(o.trouble, live.ErrNotServed): // which is no fault: it may be optional
		k.watches.log.Info(about+" waits: the cluster does not serve it", "watched", watched)
	case o.trouble != nil:
		k.watches.log.Error(o.trouble, about+" is in trouble", "watched", watched)
	default:
		k.watches.log.Info(about+" is well again", "watched", watched)
	}
	_ = k.runGuarded("telling of a trouble", func() { k.policy.notifyTroubled(k.scope) })
}

// runGuarded does something without the mutex. A panic is an error of this kind alone.
func (k *kind) runGuarded(doing string, do func()) error {
	return k.watches.runGuarded(k.scope, doing+" of kind "+k.scope.Kind, do)
}

// checkWatchable returns an error if the resource cannot be listed and watched.
func checkWatchable(r live.Resource) error {
	if !r.Verbs.HasAll("list", "watch") {
		return fmt.Errorf("watching %s: the API supports neither list nor watch", r.GVR.GroupResource())
	}
	return nil
}
