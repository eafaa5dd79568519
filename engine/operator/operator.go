package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/metrics"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/share"
)

// An Operator serves every kind that has a folder and a CRD.
type Operator struct {
	options   Options
	mgr       manager.Manager
	http      *http.Client
	discovery *observe.Discovery
	children  *observe.Children
	reads     *observe.Reads
	writer    *apply.Writer
	// reportWriter writes the report, also where the operator is read-only.
	reportWriter *apply.Writer
	// names are the kinds to settle.
	names workqueue.TypedRateLimitingInterface[string]

	mu       sync.Mutex
	read     bool // the roots have been read
	mapsRead bool // the ConfigMaps have been read, if any are watched
	listed   bool // the CRDs have been listed
	files    []origin
	maps     []origin
	chosen   map[string]string   // where the folder of each kind comes from
	idle     map[string][]string // further sources of it, which are not used
	toldIdle map[string]string
	// toldTrouble is what the last event said is wrong with a folder, by kind.
	toldTrouble map[string]string
	folders     map[string]*folder.Folder
	unread      map[string]error
	crds        map[string]*apiextensionsv1.CustomResourceDefinition
	answers     map[string]metav1.Object // CRDs as our last write answered them
	// elsewhere says of a kind which other installation serves it, or of our
	// share of it, or is "".
	elsewhere map[string]string
	listings  map[string]*listing
	runs      map[string]*run
	troubles  map[string]error  // why a folder does not load, by kind
	taken     map[string]string // the digest of each folder as last taken up, or why it does not load
	loaded    map[string]bool   // which folders have loaded since the start
	lonely    map[string]bool   // which folders were said to have no CRD
	// unsettled says why kinds cannot be served.
	unsettled map[string]string

	// leadsSince is when this operator became the leader, in Unix nanoseconds,
	// or 0. stoodBy: it had filled caches before.
	leadsSince atomic.Int64
	stoodBy    atomic.Bool
	counting   sync.Mutex // of what may not be watched
}

// New returns an Operator for a cluster; Run starts it.
func New(options Options) (*Operator, error) {
	options = options.withDefaults()
	if err := share.CheckIdentity(options.Identity); err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	served, err := options.metrics()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(options.Config, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       served,
		HealthProbeBindAddress:        options.ProbeAddress,
		LeaderElection:                options.LeaderElection,
		LeaderElectionID:              api.Lease(options.Identity),
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &options.Lease.Duration,
		RenewDeadline:                 &options.Lease.RenewDeadline,
		RetryPeriod:                   &options.Lease.RetryPeriod,
		Cache:                         cache.Options{ReaderFailOnMissingInformer: true, ByObject: onlyFolders(options.Namespace)},
	})
	if err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	o := &Operator{
		options: options, mgr: mgr, http: mgr.GetHTTPClient(),
		names: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		crds:  map[string]*apiextensionsv1.CustomResourceDefinition{}, runs: map[string]*run{}, listings: map[string]*listing{}, troubles: map[string]error{},
		loaded: map[string]bool{}, lonely: map[string]bool{}, answers: map[string]metav1.Object{}, elsewhere: map[string]string{},
		toldIdle: map[string]string{}, toldTrouble: map[string]string{}, taken: map[string]string{}, mapsRead: options.Namespace == "", unsettled: map[string]string{},
	}
	return o, errors.Join(o.connect(), o.serveProbes())
}

// connect makes the clients and what they feed.
func (o *Operator) connect() error {
	cfg := o.options.Config
	var err error
	if o.writer, err = apply.NewWriter(cfg, o.http); err != nil {
		return err
	}
	o.reportWriter = o.writer
	if o.options.ReadOnly {
		o.writer = o.writer.ReadOnly()
		o.mgr.GetLogger().Info("read-only: everything is watched and planned, and nothing is written but Leases and Events")
	}
	if o.discovery, err = observe.NewDiscovery(cfg, o.http); err != nil {
		return err
	}
	o.children, err = observe.NewChildren(cfg, observe.ChildrenOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Changed: o.childChanged, Synced: o.kindSynced, Troubled: o.kindSynced,
	})
	if err != nil {
		return err
	}
	o.reads, err = observe.NewReads(cfg, observe.ReadsOptions{
		HTTPClient: o.http, Namespaces: o.options.Namespaces, Changed: o.readChanged, PatchChanged: o.patchChanged, Synced: o.scopeSynced, Troubled: o.scopeSynced,
	})
	return err
}

// serveProbes answers /healthz, and /readyz once every folder has loaded once.
func (o *Operator) serveProbes() error {
	return errors.Join(
		o.mgr.AddHealthzCheck("ping", healthz.Ping),
		o.mgr.AddReadyzCheck("folders", func(*http.Request) error { return o.Ready() }),
	)
}

// Ready says which folder has not loaded yet since the start, and why. A
// folder that loaded once stays ready: its last good version runs. Followers
// load folders too, so that a rolling update keeps the old Pod until the new
// one can take over. A folder whose CRD is not there holds nobody up.
func (o *Operator) Ready() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.mapsRead {
		return fmt.Errorf("the ConfigMaps of namespace %s that hold folders have not been listed yet", o.options.Namespace)
	}
	if !o.read || !o.listed {
		return errors.New("the folders and CRDs have not been read yet")
	}
	var errs []error
	for _, name := range o.named() {
		crd := o.crds[name]
		switch {
		case crd == nil || !established(crd) || o.loaded[name]:
		case o.troubles[name] != nil:
			errs = append(errs, o.troubles[name])
		default:
			errs = append(errs, fmt.Errorf("templates/%s has not been loaded yet", name))
		}
	}
	return errors.Join(errs...)
}

// named lists the kinds that have a folder, whether it could be read or not;
// it needs the mutex.
func (o *Operator) named() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(o.folders)), maps.Keys(o.unread))
	slices.Sort(names)
	return slices.Compact(names)
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
	if err := o.readRoots(); err != nil {
		return err
	}
	for _, start := range []everywhere{o.children.Start, o.reads.Start, o.trimReads, o.discovery.Run, o.watchAPIs, o.watchFolders, o.watchMaps, o.followDiscovery, o.settleKinds} {
		if err := o.mgr.Add(start); err != nil {
			return err
		}
	}
	for _, start := range []manager.RunnableFunc{o.lead, o.keepReport} {
		if err := o.mgr.Add(start); err != nil {
			return err
		}
	}
	metrics.Build(o.options.Version)
	metrics.Leads(false)
	metrics.ReadOnly(o.options.ReadOnly)
	defer metrics.Leads(false)
	return o.mgr.Start(ctx)
}

// An everywhere runs in followers too, which read and watch but start no kind.
type everywhere func(context.Context) error

// Start runs it.
func (f everywhere) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection says no.
func (everywhere) NeedLeaderElection() bool { return false }

// lead starts the kinds once this operator is the leader.
func (o *Operator) lead(context.Context) error {
	metrics.Leads(true)
	o.leadsSince.Store(time.Now().UnixNano())
	for _, name := range o.known() {
		o.names.Add(name)
	}
	return nil
}

// leads says whether this operator is the leader.
func (o *Operator) leads() bool { return o.leadsSince.Load() != 0 }

// seenCRD is a CRD as last seen, or nil.
func (o *Operator) seenCRD(name string) *apiextensionsv1.CustomResourceDefinition {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.crds[name]
}
