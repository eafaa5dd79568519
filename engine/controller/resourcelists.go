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

// findOwners closes owners once it is known whose children there may be. It is called after a pass
// over a kind that runs, and by followDiscovery every now and then.
func (l *resourceLists) findOwners() {
	l.mu.Lock()
	if l.began.IsZero() {
		l.began = time.Now()
	}
	began := l.began
	l.mu.Unlock()
	if l.areOwnersKnown() || !l.isWaitOver(began, l.ownersListed) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.areOwnersKnown() { // another pass may have been faster
		close(l.owners)
	}
}

// areOwnersKnown reports whether owners is closed.
func (l *resourceLists) areOwnersKnown() bool {
	select {
	case <-l.owners:
		return true
	default:
		return false
	}
}

// isWaitOver reports whether resources are listed, or have been waited for long enough.
func (l *resourceLists) isWaitOver(began time.Time, areListed func() bool) bool {
	waited := time.Since(began)
	return areListed() || waited > slowLimit || waited > ownersLimit && !l.isListing()
}

// isListing reports whether resources of a kind are being listed, and nothing is known to be
// wrong with that.
func (l *resourceLists) isListing() bool {
	return slices.ContainsFunc(l.listedKinds(), func(name string) bool { return l.placesOf(name).areListing() })
}

// ownersListed reports whether the resources of every kind that has a folder and is
// served here have been listed.
func (l *resourceLists) ownersListed() bool {
	share := l.inFlight.currentShare()
	var needed []string
	l.mu.Lock()
	areKnown := l.read && l.mapsRead && l.listed
	for name, k := range l.kinds {
		isServed := k.hasFolder() && k.crd != nil && isEstablished(k.crd) && k.report.elsewhere == "" && !share.IsElsewhere(name)
		if isServed && (k.listing != listing{} || k.unsettled == "") { // a kind that could not be served is tried again
			needed = append(needed, name)
		}
	}
	l.mu.Unlock()
	listed := l.listedKinds()
	return areKnown && !slices.ContainsFunc(needed, func(name string) bool {
		return !slices.Contains(listed, name) || !l.placesOf(name).areSettled()
	})
}

// wakeWatches tries at once what could not be listed or watched: the API server answers again.
func (l *resourceLists) wakeWatches() {
	l.children.Wake()
	l.reads.Wake()
	l.resources.Wake()
}

// hasListedResources reports whether the resources are listed that were chosen last.
func (l *resourceLists) hasListedResources() bool {
	return !slices.ContainsFunc(l.listedKinds(), func(name string) bool { return !l.placesOf(name).areSettled() })
}
