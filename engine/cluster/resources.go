package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/live"
)

// ResourcesOptions are what Resources needs besides a cluster. The callbacks must not block, may
// come from several goroutines at once, and may call Resources. They get the name of the kind.
type ResourcesOptions struct {
	// HTTPClient may be shared; nil makes one.
	HTTPClient *http.Client
	// Namespaces are where namespaced resources are watched; none means all.
	Namespaces []string
	// Selector is what the labels of the resources must match; nil means anything.
	Selector labels.Selector
	// Part says which resources of a kind are wanted, when that may have changed and when
	// Divide is called; nil: all. Parts of the same name are the same.
	Part func(kind string) Part
	// Changed is called for every resource that came, changed or went, in the order of its
	// changes.
	Changed func(kind string, change Change)
	// Synced is called when the resources of a kind have been listed, for the first time, of
	// another part, or again since the CRD changed.
	Synced func(kind string)
	// Troubled is called when the trouble with a kind became another, came or went.
	Troubled func(kind string)
	// Panicked is called when watching, or one of the callbacks, panicked, with the kind that was
	// watched; it may be nil.
	Panicked func(kinds []string, err error)
}

// Resources watches the custom resources of all kinds. They are kept whole, as JSON.
type Resources struct {
	watches
	options ResourcesOptions
	// names are those of the kinds, and shown is how the API server serves them. The mutex of
	// watches guards both.
	names map[Scope]string
	shown *Served
}

// NewResources returns Resources that watch nothing before Start and Watch have been called, in any
// order.
func NewResources(cfg *rest.Config, options ResourcesOptions) (*Resources, error) {
	if options.Changed == nil || options.Synced == nil || options.Troubled == nil {
		return nil, errors.New("watching resources: a callback is missing")
	}
	clients, err := newClients(cfg, options.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("watching resources: %w", err)
	}
	r := &Resources{watches: newWatches("resources", options.Namespaces), options: options, names: map[Scope]string{}, shown: &Served{}}
	r.panicked, r.served = options.Panicked, func() *Served { return r.shown }
	r.begin = func(scope Scope) *kind {
		name := r.names[scope]
		k := newKind(scope, &r.watches, clients, &resourcePolicy{options: &r.options, name: name})
		k.isPacked = true
		if options.Selector != nil {
			k.labels = options.Selector.String()
		}
		if options.Part != nil {
			k.part = func() Part { return options.Part(name) }
		}
		return k
	}
	return r, nil
}

// Watch watches the resources of a kind from now on, as the API server serves them, in place of
// those that were watched by this name. It never waits for the cluster.
func (r *Resources) Watch(name string, resource live.Resource) {
	scope := Scope{GroupVersionKind: resource.GVK}
	if other := r.nameOf(scope); other != "" && other != name { // a CRD that took its place
		r.Forget(other)
	}
	r.mu.Lock()
	shown := &Served{resources: maps.Clone(r.shown.resources)}
	if shown.resources == nil {
		shown.resources = map[schema.GroupVersionKind]live.Resource{}
	}
	shown.resources[resource.GVK] = resource
	r.names[scope], r.shown = name, shown
	r.mu.Unlock()
	r.setWanted(name, map[Scope]live.Need{scope: live.Body})
}

// nameOf returns the name by which a scope is watched, or "".
func (r *Resources) nameOf(scope Scope) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[scope]
}

// Forget ends the watch of a kind, and drops its resources.
func (r *Resources) Forget(name string) {
	r.setWanted(name, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.names, func(scope Scope, of string) bool { return of == name && r.kinds[scope] == nil })
}

var errUnlisted = errors.New("they have not been listed yet")

// Find returns a resource of a kind as the watch has it. What is in a namespace that is not watched
// is not found. It is an error if the resources have not been listed.
func (r *Resources) Find(name string, key types.NamespacedName) (l live.Object, found bool, err error) {
	k := r.kindNamed(name)
	if k == nil {
		return live.Object{}, false, errUnlisted
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return live.Object{}, false, errUnlisted
	}
	for _, s := range k.current.stores {
		switch {
		case !s.coversNamespace(key.Namespace):
		case !s.synced:
			return live.Object{}, false, errUnlisted
		default:
			l, found = s.items[key]
			return l, found, nil
		}
	}
	return live.Object{}, false, nil
}

// All returns the metadata of the resources of a kind, as far as they have been listed.
func (r *Resources) All(name string) (all []metav1.Object) {
	k := r.kindNamed(name)
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return nil
	}
	for _, s := range k.current.stores {
		for _, l := range s.items {
			all = append(all, l.Meta)
		}
	}
	return all
}

// A Place is what is known of the resources of a kind in one namespace, or in all.
type Place struct {
	Namespace string // "": all
	// IsListed: the resources have been listed. IsCurrent: so has the part that is wanted now.
	IsListed, IsCurrent bool
	// Err is why they could not be listed or watched at the last try, or nil.
	Err error
	// IsGivenUp: it has been so for lastingAfter, or there is no right, or no answer: nobody is to
	// wait for a list.
	IsGivenUp bool
	// IsSilent: nothing is known to be wrong, and the list has made no progress for silentAfter.
	IsSilent bool
}

// silentAfter is for how long a list may make no progress before others that could wait for it do
// not.
const silentAfter = 4 * time.Second

// Places returns what is known of the resources of a kind, by namespace.
func (r *Resources) Places(name string) (all []Place) {
	k := r.kindNamed(name)
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil {
		return []Place{{}}
	}
	now, wanted := time.Now(), k.wantedPart().Name
	for n, s := range k.current.stores {
		latest := s
		if k.next != nil && n < len(k.next.stores) {
			latest = k.next.stores[n]
		}
		p := Place{Namespace: s.namespace, IsListed: s.synced, IsCurrent: s.synced && k.current.part.Name == wanted}
		if err := cmp.Or(latest.list, latest.troubles.watch); err != nil {
			p.Err, p.IsGivenUp = steadyError(err), latest.isGivenUp(now)
		} else {
			p.IsSilent = latest.loop.Silence() >= silentAfter
		}
		all = append(all, p)
	}
	return all
}

// kindNamed returns what is watched by a name, or nil.
func (r *Resources) kindNamed(name string) *kind {
	r.mu.Lock()
	defer r.mu.Unlock()
	for scope := range r.holders[name] {
		return r.kinds[scope]
	}
	return nil
}

// A resourcePolicy keeps the resources of one kind, and passes on how each of them changes.
type resourcePolicy struct {
	options *ResourcesOptions
	name    string
}

var _ storePolicy = &resourcePolicy{}

// reduceObject returns a resource without the managed fields of its metadata: its JSON has them.
func (o *resourcePolicy) reduceObject(l live.Object, _ live.Need) live.Object {
	if meta, is := l.Meta.(*metav1.PartialObjectMetadata); is && meta.ManagedFields != nil {
		without := *meta
		without.ManagedFields = nil
		l.Meta = &without
	}
	return l
}

// groupsOf returns nothing: resources are found by their names.
func (o *resourcePolicy) groupsOf(live.Object) []group { return nil }

// ownerOf returns the resource itself.
func (o *resourcePolicy) ownerOf(l live.Object) owner {
	return owner{of: api.Owner{Kind: o.name, Namespace: l.Meta.GetNamespace(), Name: l.Meta.GetName()}, uid: l.Meta.GetUID()}
}

// noteChange adds the change itself.
func (o *resourcePolicy) noteChange(told *notifications, c Change) {
	told.changes = append(told.changes, c)
}

// allReaders returns nobody: Synced and Troubled stand for that.
func (o *resourcePolicy) allReaders() []owner { return nil }

// neededNow returns that no query needs resources.
func (o *resourcePolicy) neededNow() (live.Need, bool) { return live.Body, false }

// notifyOwner does nothing: changes are passed on whole.
func (o *resourcePolicy) notifyOwner(owner) {}

// notifyChange passes on how a resource changed.
func (o *resourcePolicy) notifyChange(c Change) { o.options.Changed(o.name, c) }

// notifySynced notifies that the kind was listed.
func (o *resourcePolicy) notifySynced(Scope) { o.options.Synced(o.name) }

// notifyTroubled notifies that the kind cannot be listed or watched.
func (o *resourcePolicy) notifyTroubled(Scope) { o.options.Troubled(o.name) }
