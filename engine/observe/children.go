package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
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
	// Synced is called when a kind has been listed, for the first time or for
	// the first time with what is now needed: look at all owners.
	Synced func(schema.GroupVersionKind)
	// Troubled is called when the error in a kind's State became another,
	// came or went, and when it is no longer served: look at all owners.
	Troubled func(schema.GroupVersionKind)
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
	c.begin = func(scope Scope) *kind {
		k := newKind(scope, &c.watches, clients, offspring{c})
		k.labels = api.LabelOwnerUID
		return k
	}
	return c, nil
}

// Want declares which kinds of children the holder needs, in place of what it
// declared before, and releases what nobody wants any more. It never waits for
// the cluster.
func (c *Children) Want(holder string, kinds map[schema.GroupVersionKind]Need) {
	scopes := make(map[Scope]Need, len(kinds))
	for gvk, need := range kinds {
		scopes[Scope{GroupVersionKind: gvk}] = need
	}
	c.want(holder, scopes)
}

// State returns what is known about a kind as a whole.
func (c *Children) State(gvk schema.GroupVersionKind) State {
	return c.stateOf(Scope{GroupVersionKind: gvk})
}

// Of returns the live children of this kind which carry the owner's uid in
// their label, sorted by namespace and name. With an error, which is
// ErrNotServed or why the kind is not synced, there may be others.
func (c *Children) Of(gvk schema.GroupVersionKind, uid types.UID) ([]Live, error) {
	k := c.kind(gvk)
	if k == nil {
		return nil, fmt.Errorf("finding children of kind %s: nobody wants it watched", gvk.Kind)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.find(group{uid: uid}, everything)
	if err := k.unsynced(); err != nil {
		return found, fmt.Errorf("finding children of kind %s: %w", gvk.Kind, err)
	}
	return found, nil
}

// Note records the answer of a write, which stands in until the watch has
// caught up with it. The object is kept: it must not be changed afterwards.
func (c *Children) Note(gvk schema.GroupVersionKind, obj *unstructured.Unstructured) {
	if k := c.kind(gvk); k != nil {
		k.note(Live{GVK: gvk, Meta: obj, Body: obj.Object})
	}
}

// Look compares what is known about a kind with a quorum list of metadata: the
// slow periodic look that finds what a watch has swallowed, and resource
// versions that went back because etcd was restored. If they still differ
// after a short grace, the watch is replaced by a new one; Changed is then
// called for the owners of whatever differed. Look returns once that is done.
// A list that is refused shows in State, and is tried again by itself.
func (c *Children) Look(ctx context.Context, gvk schema.GroupVersionKind) error {
	return c.look(ctx, Scope{GroupVersionKind: gvk})
}

func (c *Children) kind(gvk schema.GroupVersionKind) *kind {
	return c.at(Scope{GroupVersionKind: gvk})
}
