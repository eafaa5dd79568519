package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

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

// ownersLimit is how long the first watches of children wait for the lists of
// resources. Children of one that was not listed by then cost a list when it is
// served.
const ownersLimit = 10 * time.Second

// awaitOwners returns a channel that is closed once it is known whose children
// there may be.
func (o *Operator) awaitOwners(ctx context.Context) <-chan struct{} {
	known := make(chan struct{})
	go func() {
		defer close(known)
		_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, ownersLimit, true, func(context.Context) (bool, error) {
			return o.ownersListed(), nil
		})
	}()
	return known
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
		case k.crd == nil || !established(k.crd) || k.elsewhere != "" || o.turns.now().Closed(name):
		case k.cache == nil || !k.cache.resources.listed():
			return false
		}
	}
	return true
}
