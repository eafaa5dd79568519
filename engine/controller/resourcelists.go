package controller

import (
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// startListing lists and watches the resources of a kind, unless it does so already.
func (l *resourceLists) startListing(gvk apischema.GroupVersionKind, crd *apiextensionsv1.CustomResourceDefinition) {
	wanted := listing{gvk, crd.UID}
	l.mu.Lock()
	before := l.readState(crd.Name).listing
	l.stateOf(crd.Name).listing = wanted
	l.mu.Unlock()
	switch before {
	case wanted:
		return
	case listing{}:
	default:
		l.resources.Forget(crd.Name)
	}
	l.resources.Watch(crd.Name, live.Resource{
		GVK: gvk, GVR: gvk.GroupVersion().WithResource(crd.Spec.Names.Plural),
		Namespaced: crd.Spec.Scope != apiextensionsv1.ClusterScoped, Verbs: sets.New("list", "watch"),
	})
}

// stopListing forgets the resources of a kind.
func (l *resourceLists) stopListing(name string) {
	l.mu.Lock()
	isListed := l.readState(name).listing != listing{}
	if isListed {
		l.stateOf(name).listing = listing{}
	}
	l.mu.Unlock()
	if isListed {
		l.resources.Forget(name)
	}
}

// placesOf returns what is known of the resources of a kind, by namespace.
func (l *resourceLists) placesOf(name string) places { return l.resources.Places(name) }

// listedKinds returns the kinds whose resources are listed.
func (l *resourceLists) listedKinds() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kindsWhere(func(k *kindState) bool { return k.listing != listing{} })
}

// Watches of children wait for the lists of resources: for ownersLimit, and for slowLimit
// as long as resources are being listed and nothing is wrong with that. They do not wait
// for a kind that is refused, or silent, for longer than that may pass by itself. Children of
// a resource that was not listed by then cost a list each when it is served.
const (
	ownersLimit = 10 * time.Second
	slowLimit   = 2 * time.Minute
)

// isWaitOver reports whether it is known whose children there may be, or has been waited for since
// began for long enough.
func (l *resourceLists) isWaitOver(began time.Time) bool {
	waited := time.Since(began)
	return l.areOwnersListed() || waited > slowLimit || waited > ownersLimit && !l.isListing()
}

// isListing reports whether resources of a kind are being listed, and nothing is known to be
// wrong with that.
func (l *resourceLists) isListing() bool {
	return slices.ContainsFunc(l.listedKinds(), func(name string) bool { return l.placesOf(name).areListing() })
}

// areOwnersListed reports whether the resources have been listed of every kind that is at work, or
// that has a folder and is served here.
func (l *resourceLists) areOwnersListed() bool {
	share := l.inFlight.currentShare()
	l.mu.Lock()
	areKnown := l.read && l.mapsRead && l.listed
	needed := l.kindsWhere(func(k *kindState) bool {
		isServed := k.hasFolder() && k.crd != nil && isEstablished(k.crd) && k.report.elsewhere == "" && !share.IsElsewhere(k.crd.Name)
		return k.listing != listing{} || isServed && k.unsettled == "" // a kind that could not be served is tried again
	})
	l.mu.Unlock()
	return areKnown && !slices.ContainsFunc(needed, func(name string) bool { return !l.placesOf(name).areSettled() })
}

// wakeWatches tries at once what could not be listed or watched: the API server answers again.
func (l *resourceLists) wakeWatches() {
	l.children.Wake()
	l.reads.Wake()
	l.resources.Wake()
}
