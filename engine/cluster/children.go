package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// ChildrenOptions are what Children needs besides a cluster. The callbacks
// must not block, may come from several goroutines at once, and may call
// Children.
type ChildrenOptions struct {
	// HTTPClient may be shared; nil makes one.
	HTTPClient *http.Client
	// Namespaces are where namespaced children are watched; none means all.
	Namespaces []string
	// Changed is called for every child that came, changed or went, with the
	// owner that its annotation names (the zero Owner if it names none) and the
	// owner's uid by its label; for both owners where they changed. It is not
	// called for the first list of a kind: Synced stands for that.
	Changed func(of api.Owner, uid types.UID)
	// Known reports whether a resource that an object names, or whose uid it wears,
	// is one that is served here; nil: all are. Of other objects just a stub is
	// kept.
	Known func(of api.Owner, uid types.UID) bool
	// Part says which children of a kind are wanted, which these holders declared, when
	// that may have changed and when Divide is called; nil: all. Parts of the same name
	// are the same.
	Part func(of schema.GroupVersionKind, holders []string) Part
	// Synced is called when a kind has been listed, for the first time or for
	// the first time with what is now needed: look at all owners.
	Synced func(schema.GroupVersionKind)
	// Troubled is called when the error in a kind's State became another,
	// came or went, and when it is no longer served: look at all owners.
	Troubled func(schema.GroupVersionKind)
	// Deleted is called for every object that is gone, or lost our label, at this
	// resourceVersion or before, and before Children answers so; it may be nil. See
	// Reads.RecordDeletion.
	Deleted func(l live.Object, version string)
	// Panicked is called when watching, or one of the callbacks, panicked, with
	// the holders of what was watched; it may be nil.
	Panicked func(holders []string, err error)
}

// Children watches the children of all kinds, found by the label of their
// owner's uid.
type Children struct {
	watches
	options ChildrenOptions
}

// NewChildren returns Children that watch nothing before Start, Served and Want
// have been called, in any order.
func NewChildren(cfg *rest.Config, options ChildrenOptions) (*Children, error) {
	if options.Changed == nil {
		return nil, errors.New("watching children: no callback for changes")
	}
	clients, err := newClients(cfg, options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("watching children: %w", err)
	}
	c := &Children{watches: newWatches("children", options.Namespaces), options: options}
	c.panicked, c.deleted = options.Panicked, options.Deleted
	c.begin = func(scope Scope) *kind {
		k := newKind(scope, &c.watches, clients, &childPolicy{children: c, completing: map[types.UID]error{}})
		k.labels = api.LabelOwnerUID
		if options.Part != nil {
			k.part = func() Part { return options.Part(scope.GroupVersionKind, c.holdersOf(scope)) }
		}
		return k
	}
	return c, nil
}

// Want declares which kinds of children the holder needs, in place of what it
// declared before, and releases what nobody wants any more. It never waits for
// the cluster.
func (c *Children) Want(holder string, kinds map[schema.GroupVersionKind]live.Need) {
	scopes := make(map[Scope]live.Need, len(kinds))
	for gvk, need := range kinds {
		scopes[Scope{GroupVersionKind: gvk}] = need
	}
	c.setWanted(holder, scopes)
}

// State returns what is known about a kind in these namespaces; none: as a whole.
// A namespace that may not be watched, or is gone, makes nothing of the others
// unknown.
func (c *Children) State(gvk schema.GroupVersionKind, in ...string) live.State {
	return c.stateOf(Scope{GroupVersionKind: gvk}, in...)
}

// Of returns the live children of this kind which carry the owner's uid in
// their label, sorted by namespace and name. With an error, which is
// ErrNotServed, why the kind is not synced, that some were seen before their
// owner and are being read again, or that a deletion is due, there may be others.
// With namespaces only what is not known in these is an error.
func (c *Children) Of(gvk schema.GroupVersionKind, uid types.UID, in ...string) ([]live.Object, error) {
	k := c.kindOf(gvk)
	if k == nil {
		return nil, fmt.Errorf("finding children of kind %s: nobody wants it watched", gvk.Kind)
	}
	k.mu.Lock()
	found := k.findObjects(group{uid: uid}, matchAll)
	err := cmp.Or(k.checkSynced(in...), k.deletionDue(group{uid: uid}, matchAll))
	var complete func()
	if err == nil {
		complete, err = k.policy.(*childPolicy).checkComplete(k, uid, found)
	}
	k.mu.Unlock()
	if complete != nil {
		c.run(complete)
	}
	if err != nil {
		found = slices.DeleteFunc(found, isStub)
	}
	for i, l := range found {
		unpacked, bad := l.Unpacked()
		found[i], err = unpacked, cmp.Or(err, bad)
	}
	if err != nil {
		return found, fmt.Errorf("finding children of kind %s: %w", gvk.Kind, err)
	}
	return found, nil
}

// Strangers counts the labelled objects of which just a stub is kept, by the
// kind of the owner that they name, of those that want children watched; "" are
// all others.
func (c *Children) Strangers() map[string]int {
	counts := map[string]int{"": 0}
	c.mu.Lock()
	for holder := range c.holders {
		counts[holder] = 0
	}
	c.mu.Unlock()
	for _, k := range c.allKinds() {
		k.countStubs(counts)
	}
	return counts
}

// countStubs adds the stubs of one kind of object.
func (k *kind) countStubs(counts map[string]int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return
	}
	for _, s := range k.current.stores {
		for _, l := range s.items {
			if !isStub(l) {
				continue
			}
			of := ownerKind(l)
			if _, wants := counts[of]; !wants {
				of = ""
			}
			counts[of]++
		}
	}
}

// Disown takes that a resource is gone: what is left of its children concerns
// nobody here.
func (c *Children) Disown(uid types.UID) {
	for _, k := range c.allKinds() {
		k.mu.Lock()
		for _, l := range k.findObjects(group{uid: uid}, matchAll) {
			for _, s := range k.current.stores {
				if _, has := s.items[l.Key()]; has {
					s.putObject(stubOf(l))
				}
			}
		}
		k.mu.Unlock()
	}
}

// RecordWrite records the answer of a write, which stands in until the watch has
// caught up with it. The object is kept: it must not be changed afterwards.
func (c *Children) RecordWrite(gvk schema.GroupVersionKind, obj *unstructured.Unstructured) {
	if k := c.kindOf(gvk); k != nil {
		k.recordWrite(live.Object{GVK: gvk, Meta: obj, Body: obj.Object})
	}
}

// Resync compares what is known about a kind with a quorum list of metadata: the
// slow periodic look that finds what a watch has swallowed, and resource
// versions that went back because etcd was restored. If they still differ
// after a short grace, the watch is replaced by a new one; Changed is then
// called for the owners of whatever differed. Resync returns once that is done.
// A list that is refused shows in State, and is tried again by itself.
func (c *Children) Resync(ctx context.Context, gvk schema.GroupVersionKind) error {
	return c.resyncScope(ctx, Scope{GroupVersionKind: gvk})
}

// RecordDeletion is Reads.RecordDeletion for children.
func (c *Children) RecordDeletion(l live.Object, version string) { c.recordDeletion(l, version) }

// kindOf returns what is known of a kind of children, or nil.
func (c *Children) kindOf(gvk schema.GroupVersionKind) *kind {
	return c.kindAt(Scope{GroupVersionKind: gvk})
}
