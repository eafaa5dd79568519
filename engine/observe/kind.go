package observe

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// A kind is what is watched of one kind in one version, as long as somebody
// wants it.
type kind struct {
	scope   Scope
	watches *watches
	keeper  keeper
	clients clients
	broken  error  // why there are no clients
	labels  string // the selector of what is watched

	looking sync.Mutex // one look at a time; taken before mu

	mu sync.Mutex
	// phase is Unsynced if the kind is served, or it is not known whether.
	phase   Phase
	unknown error // why it is not known whether, or how, it is served
	ended   bool  // nobody used it; who asks again gets another
	current *feed
	next    *feed // takes the place of current once it has listed
	stands  stands
}

func newKind(scope Scope, w *watches, c clients, of keeper) *kind {
	return &kind{scope: scope, watches: w, clients: c, keeper: of, stands: newStands(), unknown: errUndiscovered}
}

func (k *kind) outbox() *outbox { return &outbox{keeper: k.keeper} }

// narrow makes a list or a watch one of just what is watched.
func (k *kind) narrow(opts metav1.ListOptions) metav1.ListOptions {
	opts.LabelSelector = k.labels
	if k.scope.Name != "" {
		opts.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, k.scope.Name).String()
	}
	return opts
}

// state needs the kind's mutex.
func (k *kind) state() State {
	switch {
	case k.phase == NotServed:
		return State{Phase: NotServed, Err: ErrNotServed}
	case k.unknown != nil:
		return State{Err: k.unknown}
	case k.current == nil:
		return State{}
	}
	err := k.current.trouble()
	if lasting(err) && k.next != nil && k.next.trouble() != nil {
		err = k.next.trouble() // it tries again, and so knows better
	}
	if !k.current.synced() || lasting(err) {
		return State{Holds: k.current.need, Err: err}
	}
	return State{Phase: Synced, Holds: k.current.need, Err: err}
}

// unsynced says why a kind is not known; nil if it is. It needs the mutex.
func (k *kind) unsynced() error {
	state := k.state()
	switch {
	case state.Phase == Synced:
		return nil
	case state.Err != nil:
		return state.Err
	}
	return fmt.Errorf("%w: it is not listed yet", ErrNotYet)
}

// view is every live object as far as is known; it needs the mutex.
func (k *kind) view() map[types.NamespacedName]Live {
	if k.current == nil {
		return map[types.NamespacedName]Live{}
	}
	view := k.current.all()
	for key, n := range k.stands.notes {
		view[key] = k.keeper.keep(n.live, k.current.need)
	}
	return view
}

// everything is for find.
func everything(Live) bool { return true }

// find returns the objects of a group that match, sorted; those of the zero
// group are all. It needs the mutex.
func (k *kind) find(g group, match func(Live) bool) []Live {
	found := []Live{}
	if k.current == nil {
		return found
	}
	add := func(s *shard, key types.NamespacedName) {
		l := s.items[key]
		if _, noted := k.stands.notes[key]; !noted && match(l) {
			found = append(found, l)
		}
	}
	for _, s := range k.current.shards {
		if g == (group{}) {
			for key := range s.items {
				add(s, key)
			}
		}
		for key := range s.grouped[g] {
			add(s, key)
		}
	}
	for _, n := range k.stands.notes {
		if (g == (group{}) || slices.Contains(k.keeper.groups(n.live), g)) && match(n.live) {
			found = append(found, k.keeper.keep(n.live, k.current.need))
		}
	}
	slices.SortFunc(found, byKey)
	return found
}

// note takes the answer of a write, unless the watch has passed it already.
func (k *kind) note(l Live) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stand(l)
}

// stand is note for who has the mutex.
func (k *kind) stand(l Live) {
	if k.current == nil || k.scope.Name != "" && k.scope.Name != l.Meta.GetName() {
		return
	}
	if old, had := k.stands.notes[l.key()]; had && old.live.Meta.GetUID() == l.Meta.GetUID() &&
		newer(old.live.Meta.GetResourceVersion(), l.Meta.GetResourceVersion()) {
		return
	}
	for _, s := range k.current.shards {
		if !s.covers(l.Meta.GetNamespace()) {
			continue
		}
		k.stands.put(l)
		if numbered(l.Meta.GetResourceVersion()) && !newer(l.Meta.GetResourceVersion(), s.passed) {
			delete(k.stands.notes, l.key())
		}
		return
	}
}

// forget stops the watches and drops what they delivered; it needs the mutex.
func (k *kind) forget() {
	k.current.stop()
	k.next.stop()
	k.current, k.next, k.stands = nil, nil, newStands()
}

// start makes a feed and runs it; it needs the mutex.
func (k *kind) start(need Need, r Resource) *feed {
	ctx, cancel := context.WithCancel(k.watches.ctx)
	f := &feed{kind: k, need: need, resource: r, cancel: cancel, ready: make(chan struct{})}
	namespaces := k.watches.namespaces
	switch {
	case !r.Namespaced:
		namespaces = []string{""}
	case k.scope.Namespace != "" || len(namespaces) == 0:
		namespaces = []string{k.scope.Namespace}
	}
	for _, namespace := range namespaces {
		f.shards = append(f.shards, newShard(f, namespace))
	}
	for _, s := range f.shards {
		k.watches.running.Go(func() { f.run(ctx, s, k.clients.source(s)) })
	}
	return f
}

// told runs the callbacks, without the mutex.
func (k *kind) told(o *outbox) {
	for whose := range o.changed {
		k.keeper.tell(whose)
	}
	if o.synced {
		k.keeper.synced(k.scope)
	}
	if !o.troubled {
		return
	}
	about, watched := "watching "+k.watches.about, k.scope.String()
	if o.trouble != nil {
		k.watches.log.Error(o.trouble, about+" is in trouble", "watched", watched)
	} else {
		k.watches.log.Info(about+" is well again", "watched", watched)
	}
	k.keeper.troubled(k.scope)
}

// watchable returns an error if the resource cannot be listed and watched.
func watchable(r Resource) error {
	if !r.Verbs.HasAll("list", "watch") {
		return fmt.Errorf("watching %s: the API offers no list and watch", r.GVR.GroupResource())
	}
	return nil
}
