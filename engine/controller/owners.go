package controller

import (
	"context"
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
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.kinds {
		if k.cache != nil && k.cache.resources.lists() {
			return true
		}
	}
	return false
}

// ownersListed reports whether the resources of every kind that has a folder and is
// served here have been listed.
func (o *Operator) ownersListed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.read || !o.mapsRead || !o.listed {
		return false
	}
	for _, name := range o.named() {
		k := o.kinds[name]
		switch {
		case k.crd == nil || !established(k.crd) || k.elsewhere != "" || o.inFlight.currentShare().IsElsewhere(name):
		case k.cache == nil && k.unsettled != "": // the kind is tried again
		case k.cache == nil || !k.cache.resources.have():
			return false
		}
	}
	return true
}
