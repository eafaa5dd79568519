package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/roots"
	"github.com/jacquard-operator/jacquard/engine/controller/shard"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// An Operator is the process: it serves every kind that has a folder and a CRD.
type Operator struct {
	*kindTable
	apis       *apiCatalog
	troubles   *watchTroubles
	wakeUps    *wakeUps
	lists      *resourceLists
	share      *shareFollower
	membership *membership
	runner     *kindRunner
	revisions  *revisionStore
	rollouts   *rolloutManager
	reporter   *kindReporter
	manager    *kindManager
	sources    *folderSources
	report     *statusReporter
	watcher    *apiWatcher

	bases *baseWatches // what every kind needs watched
}

// requestLimit is how long the operator waits for the answer to one request that is not
// a watch. An API server that works answers, or refuses, within a minute.
const requestLimit = time.Minute

// pprofAddress is where profiles are served: nowhere, but in a binary that is built
// with the tag profile.
var pprofAddress string

// New returns an Operator for a cluster; Run starts it.
func New(options Options) (*Operator, error) {
	options = options.withDefaults()
	if err := errors.Join(shard.CheckIdentity(options.Identity), options.Ready.checkValue()); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	// CRDs are large, and all of them are watched: as protobuf they cost the API
	// server and us a fraction of what they do as JSON.
	if err := errors.Join(clientscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme),
		apiutil.AddToProtobufScheme(apiextensionsv1.AddToScheme)); err != nil {
		return nil, err
	}
	served, err := options.metricsOptions()
	if err != nil {
		return nil, err
	}
	lead := &leaseFence{duration: options.Lease.RenewDeadline}
	options.Config = transport.Configure(options.Config, requestLimit)
	election := lead.wrapConfig(options.Config)
	options.Config = rest.CopyConfig(options.Config)
	options.Config.Wrap(transport.NewInFlight().Wrap)
	bases := &baseWatches{clock: clock.RealClock{}}
	how := ctrl.Options{
		Scheme:           scheme,
		Logger:           ctrl.Log,
		Metrics:          served,
		PprofBindAddress: pprofAddress,
		Cache: cache.Options{ReaderFailOnMissingInformer: true, ByObject: onlyFolders(options.Namespace),
			NewInformer: bases.newInformer},
	}
	var o *Operator
	var lock *replicas.Lock
	var held resourcelock.Interface
	switch {
	case options.dividesResources():
		lock, err = options.newReplicaLock(election, func() string { return o.membership.reportReplica() },
			func() string { return o.membership.member.Status().Digest })
		held = lock
	case options.usesLease():
		held, err = options.newLeaseLock(election)
	}
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(options.Config, how)
	if err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	o = assembleParts(&process{options: options, clock: clock.RealClock{}, mgr: mgr, http: mgr.GetHTTPClient()})
	o.bases, o.membership.lock, o.membership.election = bases, lock, held
	if lock != nil {
		if o.membership.member, err = o.membership.newMember(); err != nil {
			return nil, err
		}
	}
	return o, errors.Join(o.connectClients(lead), o.serveProbes())
}

// connectClients makes the clients and what they feed.
func (o *Operator) connectClients(lead *leaseFence) error {
	cfg := o.options.Config
	var err error
	if o.writer, err = apply.NewWriter(cfg, o.http); err != nil {
		return err
	}
	o.reportWriter = o.writer
	if o.options.usesLease() {
		o.writer = o.writer.While(lead.timeRemaining)
	}
	if o.options.ReadOnly {
		o.writer = o.writer.ReadOnly()
		o.mgr.GetLogger().Info("read-only: everything is watched and planned, and nothing is written but Leases and Events")
	}
	if o.apis.discovery, err = cluster.NewDiscovery(cfg, o.http); err != nil {
		return err
	}
	o.resources, err = cluster.NewResources(cfg, cluster.ResourcesOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Selector: o.options.Selector, Part: o.share.resourcePart,
		Changed: o.wakeUps.resourceChanged, Synced: o.wakeUps.resourcesSynced, Troubled: func(kind string) { o.names.Add(kind) },
		Panicked: watchPanicked,
	})
	if err != nil {
		return err
	}
	o.children, err = cluster.NewChildren(cfg, cluster.ChildrenOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Changed: o.wakeUps.childChanged, Known: o.wakeUps.isOwnerKnown,
		Part: o.share.childPart, Synced: o.wakeUps.kindSynced, Troubled: o.wakeUps.kindSynced,
		Deleted:  func(l live.Object, version string) { o.reads.RecordDeletion(l, version) },
		Panicked: watchPanicked,
	})
	if err != nil {
		return err
	}
	o.reads, err = cluster.NewReads(cfg, cluster.ReadsOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Changed: o.wakeUps.readChanged, PatchChanged: o.wakeUps.patchChanged,
		Synced: o.wakeUps.scopeSynced, Troubled: o.wakeUps.scopeSynced,
		Deleted:  func(l live.Object, version string) { o.children.RecordDeletion(l, version) },
		Panicked: watchPanicked,
	})
	return err
}

// Run serves until ctx ends or leadership is lost.
func (o *Operator) Run(ctx context.Context) error {
	if o.options.InstallCRDs {
		if err := o.sources.installCRDs(ctx); ctx.Err() != nil {
			return nil // it was told to end
		} else if err != nil {
			return err
		}
	}
	reader := roots.NewReader(o.clock, o.options.Roots)
	o.sources.takeRoots(ctx, reader.Read())
	watchRoots := func(ctx context.Context) error { return reader.Run(ctx, o.sources.takeRoots) }
	for _, start := range []everywhere{o.resources.Start, o.children.Start, o.reads.Start, o.wakeUps.trimReads, o.apis.discovery.Run,
		o.watcher.watchAPIs, watchRoots, o.sources.watchMaps, o.watcher.followDiscovery, o.share.followShare, o.manager.syncKinds} {
		if err := o.mgr.Add(start); err != nil {
			return err
		}
	}
	for _, start := range []manager.RunnableFunc{o.membership.holdLease, o.report.keepReport, o.membership.watchReplicas} {
		if err := o.mgr.Add(start); err != nil {
			return err
		}
	}
	metrics.Build(o.options.Version)
	metrics.Leads(false)
	metrics.Buckets(0)
	metrics.Unowned(0)
	metrics.ReadOnly(o.options.ReadOnly)
	defer metrics.Leads(false)
	defer context.AfterFunc(ctx, func() { o.ends.Store(true) })()
	if err := o.mgr.Start(ctx); err != nil {
		return o.apis.discovery.ExplainRefusal(context.WithoutCancel(ctx), err)
	}
	return nil
}

// An everywhere runs in followers too, which read and watch but start no kind.
type everywhere func(context.Context) error

// Start runs it.
func (f everywhere) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection says no.
func (everywhere) NeedLeaderElection() bool { return false }
