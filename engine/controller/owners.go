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
func (o *Operator) knows(of api.Owner, uid types.UID) bool {
	o.mu.Lock()
	l := o.seen(of.Kind).cache
	o.mu.Unlock()
	if l != nil {
		resource, err := l.resources.find(types.NamespacedName{Namespace: of.Namespace, Name: of.Name})
		if err == nil && resource != nil && resource.UID == uid {
			return true
		}
	}
	for _, r := range o.running() {
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
func (o *Operator) awaitOwners(ctx context.Context) <-chan struct{} {
	known := make(chan struct{})
	go func() {
		defer close(known)
		o.awaitLists(ctx, o.ownersListed)
	}()
	return known
}

// awaitLists waits until resources are listed, but not for those that cannot be.
func (o *Operator) awaitLists(ctx context.Context, areListed func() bool) {
	began := time.Now()
	_ = until(ctx, func() bool { return o.isWaitOver(began, areListed) })
}

// isWaitOver reports whether resources are listed, or have been waited for long enough.
func (o *Operator) isWaitOver(began time.Time, areListed func() bool) bool {
	waited := time.Since(began)
	return areListed() || waited > slowLimit || waited > ownersLimit && !o.lists()
}

// lists reports whether resources of a kind are being listed, and nothing is known to be
// wrong with that.
func (o *Operator) lists() bool {
	return slices.ContainsFunc(o.resourceCaches(), func(c resourceCache) bool { return c.resources.lists() })
}

// ownersListed reports whether the resources of every kind that has a folder and is
// served here have been listed.
func (o *Operator) ownersListed() bool {
	share := o.inFlight.currentShare()
	var needed []string
	o.mu.Lock()
	areKnown := o.read && o.mapsRead && o.listed
	for _, name := range o.named() {
		k := o.kinds[name]
		isServed := k.crd != nil && established(k.crd) && k.elsewhere == "" && !share.IsElsewhere(name)
		if isServed && (k.cache != nil || k.unsettled == "") { // a kind that could not be served is tried again
			needed = append(needed, name)
		}
	}
	o.mu.Unlock()
	for _, c := range o.resourceCaches() {
		if c.resources.have() {
			needed = slices.DeleteFunc(needed, func(name string) bool { return name == c.name })
		}
	}
	return areKnown && len(needed) == 0
}

// resourceCaches returns the resource caches of all kinds.
func (o *Operator) resourceCaches() (all []resourceCache) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.kinds {
		if k.cache != nil {
			all = append(all, *k.cache)
		}
	}
	return all
}
