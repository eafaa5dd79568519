package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
)

// takeShare replaces what this replica serves. Reconciles of what it no longer serves are not
// begun. What it serves in addition is reconciled once it is known.
func (o *Operator) takeShare(share replicas.Share) {
	before := o.inFlight.currentShare()
	o.inFlight.setShare(share)
	metrics.Leads(share.Leads)
	metrics.Buckets(len(share.Buckets()))
	o.mu.Lock()
	for name, k := range o.kinds {
		// Others may have rolled out a folder meanwhile.
		k.unread = k.unread || before.IsElsewhere(name) && !share.IsElsewhere(name) || share.Leads && !before.Leads
		part := share.Part(name)
		if part == before.Part(name) {
			continue
		}
		if k.cache != nil {
			k.cache.epoch++
		}
		if k.controller != nil {
			k.controller.since = append(k.controller.since, part)
		}
	}
	o.mu.Unlock()
	o.shareChanged()
}

// shareChanged has followShare look at what is served, and at what is known of it.
func (o *Operator) shareChanged() {
	select {
	case o.divided <- struct{}{}:
	default:
	}
}

// followShare makes known what this replica serves whenever that changes: first the resources,
// then their children, since children are known by their owners. A kind whose resources cannot be
// listed delays no other for long. Each kind is synced when all of it is known.
func (o *Operator) followShare(ctx context.Context) error {
	var changed time.Time
	listed, known := 0, 0 // the versions of the share whose resources, and whose children, are listed
	for {
		share, version := o.inFlight.shareVersion()
		if listed != version {
			listed, changed = version, time.Now()
			o.chooseResources(share)
		}
		if known != listed && o.isWaitOver(changed, o.hasListedResources) {
			known = listed
			o.chooseChildren(share)
		}
		behind := o.kindsCatchingUp()
		for _, r := range behind {
			if o.hasCaughtUp(r, share.Part(r.name)) {
				o.names.Add(r.name)
			}
		}
		var tick <-chan time.Time
		if known != listed || len(behind) > 0 { // a list may be refused without an event
			tick = time.After(shareTick)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.divided:
		case <-tick:
		}
	}
}

// shareTick is how often followShare looks again while something is not known.
const shareTick = time.Second

// chooseResources lists the resources of a share. What is known stays known until then.
func (o *Operator) chooseResources(share replicas.Share) {
	for _, c := range o.resourceCaches() {
		c.resources.choose(choice{share.Part(c.name), c.epoch})
	}
}

// hasListedResources reports whether the resources are listed that were chosen last.
func (o *Operator) hasListedResources() bool {
	return !slices.ContainsFunc(o.resourceCaches(), func(c resourceCache) bool { return !c.resources.have() })
}

// chooseChildren lists the children of the resources of a share.
func (o *Operator) chooseChildren(share replicas.Share) {
	o.mu.Lock()
	o.childShare = share
	o.mu.Unlock()
	o.children.Divide()
	o.addKnown()
}

// kindsCatchingUp returns the kinds of which something is served that is not known yet.
func (o *Operator) kindsCatchingUp() (all []*kindController) {
	if !o.dividesResources() {
		return nil
	}
	share := o.inFlight.currentShare()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.kinds {
		if r := k.controller; r != nil && (r.caught != share.Part(r.name) || len(r.since) > 0) {
			all = append(all, r)
		}
	}
	return all
}

// addKnown enqueues all kinds.
func (o *Operator) addKnown() {
	for _, name := range o.known() {
		o.names.Add(name)
	}
}

// hasCaughtUp reports whether the resources and children of a kind are known that are in a part.
func (o *Operator) hasCaughtUp(r *kindController, part replicas.Part) bool {
	o.mu.Lock()
	k, epoch := o.seen(r.name), 0
	isChosen := k.cache != nil && !k.unread && o.childShare.Part(r.name) == part
	if isChosen {
		epoch = k.cache.epoch
	}
	o.mu.Unlock()
	if !isChosen || !r.resources.chose(choice{part, epoch}) {
		return false
	}
	for gvk := range r.versions.listVersions().childKinds() {
		if !o.children.Divided(gvk, o.children.Wanted(gvk).Name) {
			return false
		}
	}
	return true
}

// openShare reconciles the resources of a kind that this replica serves, if they are known and
// were not before.
func (o *Operator) openShare(r *kindController) {
	if !o.dividesResources() {
		return
	}
	o.mu.Lock()
	changes := len(r.since) // what is known is of after these
	o.mu.Unlock()
	part := o.inFlight.currentShare().Part(r.name)
	if !o.hasCaughtUp(r, part) {
		return // followShare enqueues the kind again
	}
	o.mu.Lock()
	hasChanged := r.caught != part || changes > 0
	r.caught, r.since = part, slices.Clone(r.since[changes:])
	o.mu.Unlock()
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

// childPart returns which children of a kind this replica has to know, where these kinds have such
// children. A child belongs to the resource whose uid is in its label.
func (o *Operator) childPart(_ apischema.GroupVersionKind, holders []string) cluster.Part {
	slices.Sort(holders)
	o.mu.Lock()
	defer o.mu.Unlock()
	share, name := o.childShare, ""
	for _, holder := range holders {
		if l := o.seen(holder).cache; l != nil {
			name += fmt.Sprintf("%s %d %s; ", holder, l.epoch, share.Part(holder))
		}
	}
	p := cluster.Part{Name: name}
	if !share.IsEverything() {
		p.Has = func(of api.Owner, uid types.UID) bool { return share.Serves(of.Kind, uid) }
	}
	return p
}

// readCRD reads the CRD of a kind from the API server, if another replica may have written to it
// what this one has not seen.
func (o *Operator) readCRD(ctx context.Context, name string) error {
	o.mu.Lock()
	unread := o.seen(name).unread
	o.mu.Unlock()
	if !unread || !o.dividesResources() {
		return nil
	}
	var found metav1.PartialObjectMetadataList
	found.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := o.mgr.GetAPIReader().List(ctx, &found, client.MatchingFields{metav1.ObjectNameField: name}); err != nil {
		return fmt.Errorf("reading CRD %s: %w", name, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.state(name)
	k.unread = false
	for i := range found.Items {
		k.answer = &found.Items[i]
	}
	return nil
}

// hasListed reports whether the resources of a kind are listed that this replica serves.
func (o *Operator) hasListed(name string) bool {
	share := o.inFlight.currentShare()
	return slices.ContainsFunc(o.resourceCaches(), func(c resourceCache) bool {
		return c.name == name && c.resources.chose(choice{share.Part(name), c.epoch})
	})
}

// stopUnserved stops a kind that this installation no longer serves, and returns it to the other
// replicas.
func (o *Operator) stopUnserved(name string) {
	o.stop(name)
	if o.dividesResources() && o.isLeading() {
		o.member.SetExclusive(name, false)
	}
}
