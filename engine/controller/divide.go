package controller

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/observe"
)

// divides reports whether the replicas of this installation divide its resources among
// them; else one of them serves all.
func (o *Operator) divides() bool { return o.lock != nil }

// takeShare takes up what this replica serves from now on. What it does not serve any more is
// not begun; what it serves besides begins once it is known.
func (o *Operator) takeShare(share replicas.Share) {
	before := o.turns.now()
	o.turns.serve(share)
	metrics.Leads(share.Leads)
	metrics.Buckets(len(share.Buckets()))
	o.mu.Lock()
	for name, k := range o.kinds {
		// Others may have rolled out a folder meanwhile.
		k.unread = k.unread || before.Closed(name) && !share.Closed(name) || share.Leads && !before.Leads
		if l := k.cache; l != nil && !before.Selection(name, l.inSpaces).Same(share.Selection(name, l.inSpaces)) {
			l.epoch++
		}
		if k.controller != nil {
			k.controller.since = append(k.controller.since, share)
		}
	}
	o.mu.Unlock()
	o.shareChanged()
}

// shareChanged has followShare look at what is served.
func (o *Operator) shareChanged() {
	select {
	case o.divided <- struct{}{}:
	default:
	}
}

// leads reports whether this process does what is to be done once for the installation.
func (o *Operator) leads() bool { return o.turns.now().Leads }

// followShare makes known what this replica serves, and then serves it, whenever that
// changed.
func (o *Operator) followShare(ctx context.Context) error {
	taken, version := replicas.Share{}, 0
	for {
		var tick <-chan time.Time
		if len(o.behind()) > 0 {
			tick = time.After(shareTick)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.divided:
		case <-tick:
		}
		for share, now := o.turns.at(); now != version && ctx.Err() == nil; share, now = o.turns.at() {
			o.take(ctx, share)
			taken, version = share, now
		}
		for _, r := range o.behind() {
			if o.caughtUp(r, taken) {
				o.names.Add(r.name) // which serves it
			}
		}
	}
}

// shareTick is how often it is looked whether what is to be served is known.
const shareTick = 50 * time.Millisecond

// take makes known what is served: first the resources are listed, then their children,
// since children are known by their owners. A kind whose resources cannot be listed keeps
// no other waiting for long.
func (o *Operator) take(ctx context.Context, share replicas.Share) {
	o.mu.Lock()
	var caches []*resourceCache
	for name, k := range o.kinds {
		if k.cache != nil {
			caches = append(caches, k.cache)
			k.cache.resources.choose(k.cache.choice(name, share))
		}
	}
	o.mu.Unlock()
	o.awaitLists(ctx, func() bool {
		if !share.Same(o.turns.now()) {
			return true
		}
		for _, l := range caches {
			if !l.resources.have() {
				return false
			}
		}
		return true
	})
	o.mu.Lock()
	o.childShare = share
	o.mu.Unlock()
	o.children.Divide()
	o.addKnown()
}

// behind are the kinds of which something is served that is not known yet.
func (o *Operator) behind() []*kindController {
	if !o.divides() {
		return nil
	}
	share := o.turns.now()
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []*kindController
	for _, k := range o.kinds {
		if r := k.controller; r != nil && (!r.caught.Same(share) || len(r.since) > 0) {
			all = append(all, r)
		}
	}
	return all
}

// addKnown settles all kinds.
func (o *Operator) addKnown() {
	for _, name := range o.known() {
		o.names.Add(name)
	}
}

// choice is what is to be known of a share now. It needs the operator's mutex.
func (l *resourceCache) choice(name string, share replicas.Share) choice {
	return choice{share.Selection(name, l.inSpaces), l.epoch}
}

// caughtUp reports whether the resources and children of a kind are known that a share
// has.
func (o *Operator) caughtUp(r *kindController, share replicas.Share) bool {
	o.mu.Lock()
	known, l := o.childShare.Same(share), o.seen(r.name).cache
	if known = known && l != nil; known {
		known = r.resources.chose(l.choice(r.name, share))
	}
	o.mu.Unlock()
	if !known {
		return false
	}
	for gvk := range r.versions.listVersions().childKinds() {
		if !o.children.Divided(gvk, o.children.Wanted(gvk).Name) {
			return false
		}
	}
	return true
}

// open serves what is known of a share, and looks at it.
func (o *Operator) open(r *kindController) {
	share := o.turns.now()
	if !o.divides() || !o.caughtUp(r, share) {
		return // followShare settles the kind again
	}
	o.mu.Lock()
	before, missed, unread := r.caught, len(r.since) > 0, o.seen(r.name).unread
	if !unread {
		r.caught, r.since = share, nil
	}
	o.mu.Unlock()
	if !unread && (!before.Same(share) || missed) {
		r.enqueueAll()
	}
}

// served reports whether a resource is served by what is known: it was known, and was
// served ever since.
func (r *kindController) served(resource metav1.Object) bool {
	if !r.o.divides() {
		return true
	}
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	without := func(s replicas.Share) bool { return !s.Serves(r.name, resource) }
	return !without(r.caught) && !slices.ContainsFunc(r.since, without)
}

// part is which children of a kind this replica is to know, where these kinds have such
// children.
func (o *Operator) part(gvk apischema.GroupVersionKind, holders []string) cluster.Part {
	slices.Sort(holders)
	o.mu.Lock()
	share := o.childShare
	caches, running, epochs := map[string]*resourceCache{}, map[string]*kindController{}, map[string]int{}
	for _, holder := range holders {
		if k := o.kinds[holder]; k != nil && k.cache != nil {
			caches[holder], running[holder], epochs[holder] = k.cache, k.controller, k.cache.epoch
		}
	}
	o.mu.Unlock()
	if share.Whole() {
		return cluster.Part{Name: fmt.Sprint(epochs)}
	}
	others := share.Selection("", true)
	name, divides, selections := others.String(), !others.None(), map[string]replicas.Selection{}
	for _, holder := range holders {
		if caches[holder] == nil {
			continue
		}
		s := share.Selection(holder, caches[holder].inSpaces)
		selections[holder] = s
		divides = divides && s.By() == replicas.ByNamespace && s.Same(others) && running[holder].makesOnlyHere(gvk)
		name += fmt.Sprintf("; %s %d %s %v", holder, epochs[holder], s, s.All())
	}
	p := cluster.Part{Name: name, Has: func(of api.Owner, uid types.UID) bool {
		s, known := selections[of.Kind]
		if !known {
			s = others
		}
		return s.Has(of.Namespace, string(uid))
	}}
	if divides {
		p.Name, p.Shard = p.Name+"; by the server", others.String()
	}
	return p
}

// makesOnlyHere reports whether a kind has children of that kind in the namespaces of its
// resources alone, as far as is known.
func (r *kindController) makesOnlyHere(gvk apischema.GroupVersionKind) bool {
	if r == nil {
		return false
	}
	return !slices.ContainsFunc(r.versions.listVersions(), func(v *observe.Version) bool {
		if _, makes := v.Children[gvk]; !makes {
			return false
		}
		if v.Kind == nil || v.Kind.ClusterScoped(gvk) || !v.Kind.Creates(gvk) {
			return true
		}
		where, _ := v.Kind.Placement(gvk)
		return where.Elsewhere()
	})
}

// readCRD reads the CRD of a kind from the server, if another replica may have written to
// it what this one has not seen.
func (o *Operator) readCRD(ctx context.Context, name string) error {
	o.mu.Lock()
	unread := o.seen(name).unread
	o.mu.Unlock()
	if !unread || !o.divides() {
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

// hasListed reports whether the resources of a kind are known that are in a share.
func (o *Operator) hasListed(name string, share replicas.Share) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := o.seen(name).cache
	return l != nil && l.resources.chose(l.choice(name, share))
}

// stopUnserved stops a kind that this installation does not serve any more, and takes it out
// of the division, which may have the leader alone serve it, or divide it by uid.
func (o *Operator) stopUnserved(name string) {
	o.stop(name)
	if o.divides() && o.leads() {
		o.member.Want(name, false, false)
	}
}

// wholeTick is when it is looked again whether others have given a kind away, if what
// changed then did not tell.
const wholeTick = time.Second

// leaveLimit bounds how long a replica that ends takes to give away what it serves.
const leaveLimit = 5 * time.Second

// leave gives away what this replica serves, at its end.
func (o *Operator) leave() {
	if !o.divides() {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), leaveLimit)
	defer end()
	o.member.Leave(ctx)
}

// says is what this replica says of itself.
func (o *Operator) says() string {
	host, _ := os.Hostname() // "" says that it is not known
	share := o.turns.now()
	r := heartbeat.Replica{Program: o.options.Version, Pod: host, Buckets: map[int]int{}, Share: share.Digest()}
	for _, i := range share.Buckets() {
		r.Buckets[i] = 0
	}
	o.mu.Lock()
	r.Unable = o.those(func(k *kindState) bool { return k.unable })
	o.mu.Unlock()
	for _, k := range o.running() {
		if !o.hasListed(k.name, share) {
			r.Share = ""
		}
		for _, resource := range k.resources.all() {
			if share.Serves(k.name, resource) {
				r.Resources++
				r.Buckets[share.Bucket(k.name, resource)]++
			}
		}
		if q := k.queue.Load(); q != nil {
			r.Queue += (*q).Len()
		}
		if first := k.reconciler.OldestEvent(); !first.IsZero() {
			r.Lag = max(r.Lag, int(time.Since(first).Seconds()))
		}
	}
	return r.String()
}

// lock is the Lease of one replica, which says of itself what says does.
func (o Options) lock(election *rest.Config, says func() string) (*replicas.Lock, error) {
	leases, err := coordinationclient.NewForConfig(election)
	if err != nil {
		return nil, fmt.Errorf("making a client of Leases: %w", err)
	}
	host, err := os.Hostname()
	if err != nil || len(validation.IsDNS1123Subdomain(host)) > 0 || len(host) > longestHost {
		host = path.Base(o.Identity)
	}
	return replicas.NewLock(leases.Leases(o.leaseNamespace()), host, o.leaseLabels(), says), nil
}

// longestHost is how long the beginning of a Lease's name may be.
const longestHost = 240

// leaseLabels are on the Leases of the installation.
func (o Options) leaseLabels() map[string]string {
	return map[string]string{api.LabelPartOf: api.PartOf, api.LabelReplicas: shard.ID(o.Identity)}
}

// divides reports whether replicas divide the resources. Those that are read-only do not:
// they put nothing on record that followers could go by, and one of them counts everything.
func (o Options) divides() bool { return o.Buckets > 0 && o.elects() && !o.ReadOnly }

func (o *Operator) newMember() (*replicas.Member, error) {
	cfg := rest.CopyConfig(o.options.Config)
	cfg.QPS, cfg.RateLimiter = -1, nil
	leases, err := coordinationclient.NewForConfigAndClient(cfg, o.http)
	if err != nil {
		return nil, fmt.Errorf("making a client of Leases: %w", err)
	}
	m := replicas.NewMember(replicas.Options{
		Leases: leases.Leases(o.options.leaseNamespace()), Name: api.Lease(o.options.Identity), Labels: o.options.leaseLabels(),
		Buckets: o.options.Buckets, Serve: o.takeShare, Drained: o.turns.drained, Log: o.mgr.GetLogger().WithName("replicas"),
	})
	o.turns.ended = m.Look
	return m, nil
}
