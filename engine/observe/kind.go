package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A kind is one kind of child in one version, as long as somebody wants it.
type kind struct {
	gvk      schema.GroupVersionKind
	children *Children

	looking sync.Mutex // one look at a time; taken before mu

	mu sync.Mutex
	// phase is Unsynced if the kind is served, or it is not known whether.
	phase   Phase
	unknown error // why it is not known whether, or how, it is served
	current *feed
	next    *feed // takes the place of current once it has listed
	stands  stands
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

// trouble is what to tell about the kind's state; it needs the mutex.
func (k *kind) trouble() error { return k.state().Err }

// view is every live child as far as is known; it needs the mutex.
func (k *kind) view() map[types.NamespacedName]Live {
	if k.current == nil {
		return map[types.NamespacedName]Live{}
	}
	view := k.current.all()
	maps.DeleteFunc(view, func(_ types.NamespacedName, l Live) bool { return k.buried(l) })
	for key, n := range k.stands.notes {
		view[key] = n.live.cut(k.current.need)
	}
	return view
}

func (k *kind) buried(l Live) bool {
	_, gone := k.stands.gone[l.Meta.GetUID()]
	return gone
}

// of returns the children of one owner, sorted; it needs the mutex.
func (k *kind) of(uid types.UID) []Live {
	found := []Live{}
	if k.current == nil {
		return found
	}
	for _, s := range k.current.shards {
		for key, l := range s.byOwner[uid] {
			if _, noted := k.stands.notes[key]; !noted && !k.buried(l) {
				found = append(found, l)
			}
		}
	}
	for _, n := range k.stands.notes {
		if n.live.owner().uid == uid {
			found = append(found, n.live.cut(k.current.need))
		}
	}
	slices.SortFunc(found, byKey)
	return found
}

// note takes the answer of a write, unless the watch has passed it already.
func (k *kind) note(l Live) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
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

// bury takes the answer of a delete. What the watch does not know, and no note
// stands for, has been delivered as deleted before.
func (k *kind) bury(key types.NamespacedName, uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return
	}
	n, noted := k.stands.notes[key]
	noted = noted && n.live.Meta.GetUID() == uid
	if noted {
		delete(k.stands.notes, key)
	}
	for _, s := range k.current.shards {
		if l, had := s.items[key]; s.covers(key.Namespace) && (noted || had && l.Meta.GetUID() == uid) {
			k.stands.bury(key.Namespace, uid)
			return
		}
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
	c := k.children
	ctx, cancel := context.WithCancel(c.ctx)
	f := &feed{kind: k, need: need, resource: r, cancel: cancel, ready: make(chan struct{})}
	namespaces := c.options.Namespaces
	if !r.Namespaced || len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		f.shards = append(f.shards, newShard(f, namespace))
	}
	for _, s := range f.shards {
		c.running.Go(func() { f.run(ctx, s, c.clients.source(s)) })
	}
	return f
}

// told runs the callbacks, without the mutex.
func (k *kind) told(o *outbox, trouble error) {
	options := k.children.options
	for whose := range o.changed {
		options.Changed(whose.of, whose.uid)
	}
	if o.synced && options.Synced != nil {
		options.Synced(k.gvk)
	}
	if !o.troubled {
		return
	}
	if trouble != nil {
		k.children.log.Info("watching children is in trouble", "kind", k.gvk.String(), "trouble", trouble.Error())
	} else {
		k.children.log.Info("watching children is well again", "kind", k.gvk.String())
	}
	if options.Troubled != nil {
		options.Troubled(k.gvk)
	}
}

// watchable returns an error if the resource cannot be listed and watched.
func watchable(r Resource) error {
	if !r.Verbs.HasAll("list", "watch") {
		return fmt.Errorf("watching %s: the API offers no list and watch", r.GVR.GroupResource())
	}
	return nil
}
