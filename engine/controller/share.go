package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// takeShare replaces what this replica serves. Reconciles of what it no longer serves are not
// begun. What it serves in addition is reconciled once it is known.
func (f *shareFollower) takeShare(share replicas.Share) {
	before := f.inFlight.currentShare()
	f.mu.Lock()
	for name, k := range f.kinds {
		// Others may have rolled out a folder meanwhile.
		k.unread = k.unread || before.IsElsewhere(name) && !share.IsElsewhere(name) || share.Leads && !before.Leads
		part := share.Part(name)
		if part == before.Part(name) {
			continue
		}
		k.epoch++
		if k.controller != nil {
			k.controller.since = append(k.controller.since, part)
		}
	}
	f.mu.Unlock()
	f.inFlight.setShare(share) // last, since followShare chooses by what was changed above
	metrics.Leads(share.Leads)
	metrics.Buckets(len(share.Buckets()))
	f.divided.Notify()
}

// wantedShare returns the share of which everything is to be known, and how often that has changed.
// One of the replicas that do not divide the resources serves all of them, and each knows all.
func (f *shareFollower) wantedShare() (replicas.Share, int) {
	if !f.dividesResources() {
		return replicas.All(), 0
	}
	return f.inFlight.shareVersion()
}

// followShare makes known what this replica serves, at the start and whenever that changes: first the
// resources, then their children, since children are known by their owners. A kind whose resources
// cannot be listed delays no other for long. Each kind is synced when all of it is known.
func (f *shareFollower) followShare(ctx context.Context) error {
	var changed time.Time
	// The versions of the share whose resources, and whose children, are listed, and that of which
	// everything is known.
	listed, known, settled := -1, -1, -1
	for {
		share, version := f.wantedShare()
		if listed != version {
			listed, changed = version, time.Now()
			f.addKnown() // some begin to be served, and their resources to be listed
		}
		if share.IsNothing() { // what is known stays, for when there is a share again
			known = listed
		} else {
			f.chooseResources(share)
		}
		if known != listed && f.lists.isWaitOver(changed) {
			known = listed
			f.chooseChildren(share)
		}
		behind := f.kindsCatchingUp()
		for _, r := range behind {
			if f.hasCaughtUp(r, share.Part(r.name)) {
				f.names.Add(r.name)
			}
		}
		if known == listed && len(behind) == 0 && settled != listed {
			settled = listed
			f.returnMemory()
		}
		var tick <-chan time.Time
		if known != listed || len(behind) > 0 { // a list may be refused without an event
			tick = time.After(shareTick)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.divided:
		case <-tick:
		}
	}
}

// shareTick is how often followShare looks again while something is not known.
const shareTick = time.Second

// returnMemory returns to the system what was held before the share changed, which Go by itself
// would do within minutes.
func (f *shareFollower) returnMemory() {
	if f.dividesResources() {
		debug.FreeOSMemory()
	}
}

// chooseResources lists the resources of a share. What is known stays known until then.
func (f *shareFollower) chooseResources(share replicas.Share) {
	f.mu.Lock()
	f.resourceShare = share
	f.mu.Unlock()
	f.resources.Divide()
}

// chooseChildren lists the children of the resources of a share.
func (f *shareFollower) chooseChildren(share replicas.Share) {
	f.mu.Lock()
	f.childShare = share
	f.mu.Unlock()
	f.watchChildren()
	f.addKnown()
}

// watchChildren watches the children of the resources of a share, once one was chosen, as the API
// server serves them now.
func (f *shareFollower) watchChildren() {
	f.mu.Lock()
	isChosen := !f.childShare.IsNothing()
	f.mu.Unlock()
	if isChosen {
		f.children.Served(f.apis.promisedKinds)
	}
}

// kindsCatchingUp returns the kinds of which something is served that is not known yet.
func (f *shareFollower) kindsCatchingUp() (all []*kindController) {
	if !f.dividesResources() {
		return nil
	}
	share := f.inFlight.currentShare()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.kinds {
		if r := k.controller; r != nil && (r.caught != share.Part(r.name) || len(r.since) > 0) {
			all = append(all, r)
		}
	}
	return all
}

// hasCaughtUp reports whether the resources and children of a kind are known that are in a part.
func (f *shareFollower) hasCaughtUp(r *kindController, part replicas.Part) bool {
	f.mu.Lock()
	isChosen := !f.readState(r.name).unread && f.resourceShare.Part(r.name) == part && f.childShare.Part(r.name) == part
	f.mu.Unlock()
	if !isChosen || !r.resources.listPlaces().areCurrent() {
		return false
	}
	for gvk := range r.versions.listVersions().childKinds() {
		if !f.children.Divided(gvk, f.children.Wanted(gvk).Name) {
			return false
		}
	}
	return true
}

// hasListed reports whether the resources of a kind are listed that this replica serves.
func (f *shareFollower) hasListed(name string) bool {
	share := f.inFlight.currentShare()
	f.mu.Lock()
	isChosen := f.readState(name).listing != listing{} && f.resourceShare.Part(name) == share.Part(name)
	f.mu.Unlock()
	return isChosen && f.lists.placesOf(name).areCurrent()
}

// openShare reconciles the resources of a kind that this replica serves, if they are known and
// were not before.
func (f *shareFollower) openShare(r *kindController) {
	if !f.dividesResources() {
		return
	}
	f.mu.Lock()
	changes := len(r.since) // what is known is of after these
	f.mu.Unlock()
	part := f.inFlight.currentShare().Part(r.name)
	if !f.hasCaughtUp(r, part) {
		return // followShare enqueues the kind again
	}
	f.mu.Lock()
	hasChanged := r.caught != part || changes > 0
	r.caught, r.since = part, slices.Clone(r.since[changes:])
	f.mu.Unlock()
	if hasChanged {
		r.enqueueAll()
	}
}

// isKnown reports whether a resource and its children are known as they are now: they were listed,
// and the resource has been served ever since.
func (r *kindController) isKnown(uid types.UID) bool {
	if !r.o.dividesResources() {
		return true
	}
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	return r.caught.Has(uid) && !slices.ContainsFunc(r.since, func(p replicas.Part) bool { return !p.Has(uid) })
}

// resourcePart returns which resources of a kind this replica has to know. What was not to be known
// in between is listed again.
func (f *shareFollower) resourcePart(name string) cluster.Part {
	if !f.dividesResources() {
		return cluster.Part{}
	}
	f.mu.Lock()
	part, epoch := f.resourceShare.Part(name), f.readState(name).epoch
	f.mu.Unlock()
	wanted := cluster.Part{Name: fmt.Sprintf("%d %s", epoch, part), IsEmpty: part == replicas.Part{}}
	if part != replicas.Everything {
		wanted.Has = func(_ api.Owner, uid types.UID) bool { return part.Has(uid) }
	}
	return wanted
}

// childPart returns which children of a kind this replica has to know, where these kinds have such
// children. A child belongs to the resource whose uid is in its label.
func (f *shareFollower) childPart(_ apischema.GroupVersionKind, holders []string) cluster.Part {
	if !f.dividesResources() {
		return cluster.Part{}
	}
	slices.Sort(holders)
	f.mu.Lock()
	defer f.mu.Unlock()
	share, name := f.childShare, ""
	for _, holder := range holders {
		if k := f.readState(holder); k.listing != (listing{}) {
			name += fmt.Sprintf("%s %d %s; ", holder, k.epoch, share.Part(holder))
		}
	}
	p := cluster.Part{Name: name}
	if !share.IsEverything() {
		p.Has = func(of api.Owner, uid types.UID) bool { return share.Serves(of.Kind, uid) }
	}
	return p
}
