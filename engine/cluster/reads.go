package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Query is one question about objects of a scope: the one of that name, or
// those that the selector matches; nil matches all.
type Query struct {
	Scope Scope
	// Namespace is empty for cluster-scoped kinds and, with a selector, for all
	// that the scope has.
	Namespace, Name string
	Selector        labels.Selector
	// Need is which fields of the objects are used, at least live.Identity; live.Metadata, as in
	// the zero Query, stands for whole objects. Of other fields nobody hears when they change.
	Need live.Need
	// Since is what Reads.Tick said before the query was asked. Zero makes
	// Record wake the reader for whatever has changed since anybody asked.
	Since uint64
}

// ReadsOptions are what Reads needs besides a cluster. The callbacks must not
// block, may come from several goroutines at once, and may call Reads.
type ReadsOptions struct {
	// HTTPClient may be shared; nil makes one.
	HTTPClient *http.Client
	// Namespaces are where scopes without a namespace are watched; none means
	// all.
	Namespaces []string
	// Changed is called for each reader whose queries may now be answered
	// otherwise: an object came, changed or went, a scope came to be known, is
	// no longer known or not for the same reason, or a body was fetched.
	Changed func(reader api.Owner)
	// PatchChanged is called for every object that changed and has, or had,
	// fields of the patch manager of this uid. It is not called for the first
	// list of a scope: Synced stands for that.
	PatchChanged func(uid types.UID)
	// Synced is called when a scope has been listed for the first time.
	Synced func(Scope)
	// Troubled is called when the error in a scope's State became another,
	// came or went, and when its kind is no longer served.
	Troubled func(Scope)
	// Deleted is called for every object that is gone at this resourceVersion or
	// before, and before Reads answers so; it may be nil. See Children.RecordDeletion.
	Deleted func(l live.Object, version string)
	// Panicked is called when watching, or one of the callbacks, panicked, with
	// the holders of what was watched; it may be nil.
	Panicked func(holders []string, err error)
}

// Reads watches what templates read and what is patched: objects that are not
// children. Bodies are kept only of objects that somebody reads or patched, from
// the first list on, as far as they are used: what is asked for later is fetched, or
// listed again. Nothing that it answers waits for the cluster.
type Reads struct {
	watches
	options  ReadsOptions
	clients  clients
	accounts map[string]clients // by Scope.As; guarded by the mutex of watches

	recording sync.Mutex                   // taken before all others
	readers   map[api.Owner]map[asked]bool // what each has recorded

	fetching chan struct{} // holds one entry per request
	// patience is how long a query may be asked before it is recorded.
	patience time.Duration
	tick     atomic.Uint64 // counts changes of answers
}

const (
	turnLimit   = 10 * time.Minute // far longer than anybody renders
	mostFetches = 8                // requests for bodies at once
)

// NewReads returns Reads that watch nothing before Start, Served and a Want or
// a query, in any order.
func NewReads(cfg *rest.Config, options ReadsOptions) (*Reads, error) {
	if options.Changed == nil || options.PatchChanged == nil {
		return nil, errors.New("watching reads: no callback for changes")
	}
	all, err := newClients(cfg, options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("watching reads: %w", err)
	}
	r := &Reads{
		watches:  newWatches("reads", options.Namespaces),
		options:  options,
		clients:  all,
		accounts: map[string]clients{},
		readers:  map[api.Owner]map[asked]bool{},
		fetching: make(chan struct{}, mostFetches),
		patience: turnLimit,
	}
	r.begin, r.panicked, r.deleted = r.newKind, options.Panicked, options.Deleted
	return r, nil
}

// Want declares which scopes the holder needs, and how much of their objects, in place of what it
// declared before. Scopes that only a query names need no holder: they are watched from the first
// query until some Trim after the last reader has gone.
func (r *Reads) Want(holder string, scopes map[Scope]live.Need) { r.setWanted(holder, scopes) }

// Tick counts the changes of answers, for Query.Since.
func (r *Reads) Tick() uint64 { return r.tick.Load() }

// State returns what is known about a scope as a whole.
func (r *Reads) State(scope Scope) live.State { return r.stateOf(scope) }

// Resync is the slow periodic look at a scope; see Children.Resync.
func (r *Reads) Resync(ctx context.Context, scope Scope) error { return r.resyncScope(ctx, scope) }

// Lookup answers a query by name: the object, or nil if there is none. An
// error, such as ErrNotServed or a RuleError, means that it is not known, or
// not yet: record the query, and Changed tells when to ask again.
func (r *Reads) Lookup(q Query) (*live.Object, error) {
	if q.Name == "" {
		return nil, fmt.Errorf("looking up %s: no name", q.Scope.Kind)
	}
	found, err := r.answerQuery(q)
	if err != nil {
		return nil, fmt.Errorf("looking up %s %s: %w", q.Scope.Kind, formatPath(q.Namespace, q.Name), err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	return &found[0], nil
}

// Select answers a query by selector, sorted by namespace and name. Errors are
// those of Lookup.
func (r *Reads) Select(q Query) ([]live.Object, error) {
	if q.Name != "" {
		return nil, fmt.Errorf("selecting %s: a query by selector has no name", q.Scope.Kind)
	}
	found, err := r.answerQuery(q)
	if err != nil {
		return nil, fmt.Errorf("selecting %s %s: %w", q.Scope.Kind, formatPath(q.Namespace, q.identityOf().selector), err)
	}
	return found, nil
}

// Patched returns the objects of a kind that have fields of the patch manager
// of this uid (api.PatchManager), whole: with managedFields. It asks the scope
// that has the kind alone. With an error there may be others; with namespaces
// only what is not known in these is one.
func (r *Reads) Patched(gvk schema.GroupVersionKind, uid types.UID, in ...string) ([]live.Object, error) {
	k := r.kindAt(Scope{GroupVersionKind: gvk})
	if k == nil {
		return nil, fmt.Errorf("finding patched objects of kind %s: nobody wants it watched", gvk.Kind)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	found := k.findObjects(group{uid: uid}, matchAll)
	err := k.checkSynced(in...)
	if err == nil && !k.current.need.Covers(live.Body) { // without managedFields, no patches are seen
		err = cmp.Or(k.stateIn(in...).Err, errUnlistedFields)
	}
	if err != nil {
		return found, fmt.Errorf("finding patched objects of kind %s: %w", gvk.Kind, err)
	}
	return found, nil
}

// RecordWrite records the answer of a write, which stands in until the watches have
// caught up with it. The object is kept: it must not be changed afterwards.
func (r *Reads) RecordWrite(gvk schema.GroupVersionKind, obj *unstructured.Unstructured) {
	for _, k := range r.allKinds() {
		if k.scope.GroupVersionKind == gvk {
			k.recordWrite(live.Object{GVK: gvk, Meta: obj, Body: obj.Object})
		}
	}
}

// RecordDeletion records that another watch has delivered the deletion of an object, at
// this resourceVersion or before. While a watch of Reads still shows the object, queries
// that it answers are not answered; readers are woken when they are again. So whoever
// renders because of the deletion does not read what was deleted.
func (r *Reads) RecordDeletion(l live.Object, version string) { r.recordDeletion(l, version) }

func (r *Reads) newKind(scope Scope) *kind {
	i := &readPolicy{
		reads:     r,
		named:     map[types.NamespacedName]*question{},
		selecting: map[anchor]map[string]*question{},
	}
	k := newKind(scope, &r.watches, r.clients, i)
	i.kind = k
	if scope.As != "" {
		k.clients, k.broken = r.clientsOf(scope.As)
	}
	return k
}

// clientsOf returns the clients of a service account. The caller must hold the mutex.
func (r *Reads) clientsOf(as string) (clients, error) {
	if c, had := r.accounts[as]; had {
		return c, nil
	}
	c, err := r.clients.impersonateAccount(as)
	if err != nil {
		return clients{}, fmt.Errorf("reading as service account %s: %w", as, err)
	}
	r.accounts[as] = c
	return c, nil
}

// formatPath returns how an error names what is in a namespace.
func formatPath(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}
