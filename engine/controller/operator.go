package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
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
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/live"
	"github.com/jacquard-operator/jacquard/engine/locks"
	"github.com/jacquard-operator/jacquard/engine/transport"
)

// An Operator serves every kind that has a folder and a CRD.
type Operator struct {
	options   Options
	clock     clock.Clock
	mgr       manager.Manager
	http      *http.Client
	discovery *cluster.Discovery
	children  *cluster.Children
	reads     *cluster.Reads
	writer    *apply.Writer
	// reportWriter writes the report, also where the operator is read-only.
	reportWriter *apply.Writer
	// names are the kinds to settle.
	names workqueue.TypedRateLimitingInterface[string]
	// definitions are crds by kind; withdrawn is told when they promise less.
	definitions definitions
	withdrawn   chan struct{}

	mu       locks.Mutex
	read     bool // the roots have been read
	mapsRead bool // the ConfigMaps have been read, if any are watched
	listed   bool // the CRDs have been listed
	files    []folder.Source
	roots    roots.Reading // the last one
	maps     []folder.Source
	kinds    map[string]*kindState

	// inFlight tracks running reconciles, and which resources are served. childShare is the
	// share whose children are listed, which happens after their owners are. divided receives
	// when something of this changed. member and lock are nil unless replicas divide the
	// resources.
	inFlight   inFlight
	childShare replicas.Share
	divided    chan struct{}
	member     *replicas.Member
	lock       *replicas.Lock
	// election is the Lease that this process must hold to serve, nil if there is none. ended is
	// closed when nothing is served any more since the process ends.
	election resourcelock.Interface
	ended    chan struct{}

	// ends: it was told to end.
	ends *atomic.Bool
	// leadsSince is when this operator became the leader, in Unix nanoseconds,
	// or 0. stoodBy: it had filled caches before.
	leadsSince atomic.Int64
	stoodBy    atomic.Bool
	counting   locks.Mutex  // of what may not be watched
	noHome     sync.Once    // it was told that no revisions are kept
	bases      *baseWatches // what every kind needs watched
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
	if err := errors.Join(shard.CheckIdentity(options.Identity), options.Ready.check()); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	// CRDs are large, and all of them are watched: as protobuf they cost the API
	// server and us a fraction of what they do as JSON.
	if err := errors.Join(clientscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme),
		apiutil.AddToProtobufScheme(apiextensionsv1.AddToScheme)); err != nil {
		return nil, err
	}
	served, err := options.metrics()
	if err != nil {
		return nil, err
	}
	ends, lead := &atomic.Bool{}, &leaseFence{duration: options.Lease.RenewDeadline}
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
		lock, err = options.newReplicaLock(election, func() string { return o.reportReplica() },
			func() string { return o.member.Status().Digest })
		held = lock
	case options.elects():
		held, err = options.newLeaseLock(election)
	}
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(options.Config, how)
	if err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	o = &Operator{
		options: options, clock: clock.RealClock{}, bases: bases, mgr: mgr, ends: ends,
		http: mgr.GetHTTPClient(), withdrawn: make(chan struct{}, 1),
		names: workqueue.NewTypedRateLimitingQueue(newKindLimiter()),
		kinds: map[string]*kindState{}, mapsRead: options.Namespace == "", divided: make(chan struct{}, 1), lock: lock,
		election: held, ended: make(chan struct{}),
	}
	if o.childShare = replicas.All(); lock != nil {
		o.childShare = replicas.Share{}
		if o.member, err = o.newMember(); err != nil {
			return nil, err
		}
	}
	return o, errors.Join(o.connect(lead), o.serveProbes())
}

// connect makes the clients and what they feed.
func (o *Operator) connect(lead *leaseFence) error {
	cfg := o.options.Config
	var err error
	if o.writer, err = apply.NewWriter(cfg, o.http); err != nil {
		return err
	}
	o.reportWriter = o.writer
	if o.options.elects() {
		o.writer = o.writer.While(lead.timeRemaining)
	}
	if o.options.ReadOnly {
		o.writer = o.writer.ReadOnly()
		o.mgr.GetLogger().Info("read-only: everything is watched and planned, and nothing is written but Leases and Events")
	}
	if o.discovery, err = cluster.NewDiscovery(cfg, o.http); err != nil {
		return err
	}
	o.children, err = cluster.NewChildren(cfg, cluster.ChildrenOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Changed: o.childChanged, Known: o.knows, Part: o.childPart, Synced: o.kindSynced,
		Troubled: o.kindSynced,
		Deleted:  func(l live.Object, version string) { o.reads.RecordDeletion(l, version) },
		Panicked: watchPanicked,
	})
	if err != nil {
		return err
	}
	o.reads, err = cluster.NewReads(cfg, cluster.ReadsOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Changed: o.readChanged, PatchChanged: o.patchChanged, Synced: o.scopeSynced,
		Troubled: o.scopeSynced,
		Deleted:  func(l live.Object, version string) { o.children.RecordDeletion(l, version) },
		Panicked: watchPanicked,
	})
	return err
}

// named lists the kinds that have a folder, whether it could be read or not;
// it needs the mutex.
func (o *Operator) named() []string {
	return o.those((*kindState).named)
}

// Run serves until ctx ends or leadership is lost.
func (o *Operator) Run(ctx context.Context) error {
	if o.options.InstallCRDs {
		if err := o.installCRDs(ctx); ctx.Err() != nil {
			return nil // it was told to end
		} else if err != nil {
			return err
		}
	}
	reader := roots.NewReader(o.clock, o.options.Roots)
	o.takeRoots(ctx, reader.Read())
	watchRoots := func(ctx context.Context) error { return reader.Run(ctx, o.takeRoots) }
	for _, start := range []everywhere{o.children.Start, o.reads.Start, o.trimReads, o.discovery.Run, o.watchAPIs, watchRoots, o.watchMaps,
		o.followDiscovery, o.followShare, o.syncKinds} {
		if err := o.mgr.Add(start); err != nil {
			return err
		}
	}
	for _, start := range []manager.RunnableFunc{o.holdLease, o.keepReport, o.watchReplicas} {
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
		return o.discovery.ExplainRefusal(context.WithoutCancel(ctx), err)
	}
	return nil
}

// An everywhere runs in followers too, which read and watch but start no kind.
type everywhere func(context.Context) error

// Start runs it.
func (f everywhere) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection says no.
func (everywhere) NeedLeaderElection() bool { return false }

// seenCRD is a CRD as last seen, or nil.
func (o *Operator) seenCRD(name string) *apiextensionsv1.CustomResourceDefinition {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen(name).crd
}
