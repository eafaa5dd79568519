package controller

import (
	"slices"
	"time"

	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// Watches of children wait for the lists of resources: for ownersLimit, and for slowLimit
// as long as resources are being listed and nothing is wrong with that. They do not wait
// for a kind that the API server has refused to list for refusedLimit, nor for one whose
// list has made no progress for silentLimit. Children of a resource that was not listed by
// then cost a list each when it is served.
const (
	ownersLimit  = 10 * time.Second
	slowLimit    = 2 * time.Minute
	refusedLimit = time.Second
	silentLimit  = 4 * time.Second
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
	return slices.ContainsFunc(l.resourceCaches(), func(c resourceCache) bool { return c.resources.areListing() })
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
		if isServed && (k.cache != nil || k.unsettled == "") { // a kind that could not be served is tried again
			needed = append(needed, name)
		}
	}
	l.mu.Unlock()
	for _, c := range l.resourceCaches() {
		if c.resources.haveWanted() {
			needed = slices.DeleteFunc(needed, func(name string) bool { return name == c.name })
		}
	}
	return areKnown && len(needed) == 0
}

// wakeWatches tries at once what could not be listed or watched: the API server answers again.
func (l *resourceLists) wakeWatches() {
	l.children.Wake()
	l.reads.Wake()
	for _, c := range l.resourceCaches() {
		c.resources.wakeWatches()
	}
}

// chooseResources lists the resources of a share. What is known stays known until then.
func (l *resourceLists) chooseResources(share replicas.Share) {
	for _, c := range l.resourceCaches() {
		c.resources.setWanted(choice{share.Part(c.name), c.epoch})
	}
}

// hasListedResources reports whether the resources are listed that were chosen last.
func (l *resourceLists) hasListedResources() bool {
	return !slices.ContainsFunc(l.resourceCaches(), func(c resourceCache) bool { return !c.resources.haveWanted() })
}

// hasListed reports whether the resources of a kind are listed that this replica serves.
func (l *resourceLists) hasListed(name string) bool {
	share := l.inFlight.currentShare()
	return slices.ContainsFunc(l.resourceCaches(), func(c resourceCache) bool {
		return c.name == name && c.resources.haveChosen(choice{share.Part(name), c.epoch})
	})
}
