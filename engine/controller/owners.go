package controller

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// knows reports whether a resource is among those that are served here: the one of
// this name with this uid, or one of this uid that was served already.
func (w *wakeUps) knows(of api.Owner, uid types.UID) bool {
	w.mu.Lock()
	l := w.seen(of.Kind).cache
	w.mu.Unlock()
	if l != nil {
		resource, err := l.resources.find(types.NamespacedName{Namespace: of.Namespace, Name: of.Name})
		if err == nil && resource != nil && resource.UID == uid {
			return true
		}
	}
	for _, r := range w.running() {
		if _, found := r.reconciler.Find(uid); found {
			return true
		}
	}
	return false
}

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

// awaitOwners returns a channel that is closed once it is known whose children
// there may be.
func (l *resourceLists) awaitOwners(ctx context.Context) <-chan struct{} {
	known := make(chan struct{})
	go func() {
		defer close(known)
		l.awaitLists(ctx, l.ownersListed)
	}()
	return known
}

// awaitLists waits until resources are listed, but not for those that cannot be.
func (l *resourceLists) awaitLists(ctx context.Context, areListed func() bool) {
	began := time.Now()
	_ = until(ctx, func() bool { return l.isWaitOver(began, areListed) })
}

// isWaitOver reports whether resources are listed, or have been waited for long enough.
func (l *resourceLists) isWaitOver(began time.Time, areListed func() bool) bool {
	waited := time.Since(began)
	return areListed() || waited > slowLimit || waited > ownersLimit && !l.lists()
}

// lists reports whether resources of a kind are being listed, and nothing is known to be
// wrong with that.
func (l *resourceLists) lists() bool {
	return slices.ContainsFunc(l.resourceCaches(), func(c resourceCache) bool { return c.resources.lists() })
}

// ownersListed reports whether the resources of every kind that has a folder and is
// served here have been listed.
func (l *resourceLists) ownersListed() bool {
	share := l.inFlight.currentShare()
	var needed []string
	l.mu.Lock()
	areKnown := l.read && l.mapsRead && l.listed
	for _, name := range l.named() {
		k := l.kinds[name]
		isServed := k.crd != nil && established(k.crd) && k.elsewhere == "" && !share.IsElsewhere(name)
		if isServed && (k.cache != nil || k.unsettled == "") { // a kind that could not be served is tried again
			needed = append(needed, name)
		}
	}
	l.mu.Unlock()
	for _, c := range l.resourceCaches() {
		if c.resources.have() {
			needed = slices.DeleteFunc(needed, func(name string) bool { return name == c.name })
		}
	}
	return areKnown && len(needed) == 0
}

// resourceCaches returns the resource caches of all kinds.
func (t *kindTable) resourceCaches() (all []resourceCache) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.kinds {
		if k.cache != nil {
			all = append(all, *k.cache)
		}
	}
	return all
}
