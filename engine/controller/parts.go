package controller

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/jacquard-operator/jacquard/engine/apply"
	"github.com/jacquard-operator/jacquard/engine/cluster"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/replicas"
	"github.com/jacquard-operator/jacquard/engine/controller/roots"
	"github.com/jacquard-operator/jacquard/engine/folder"
	"github.com/jacquard-operator/jacquard/engine/locks"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// The parts of an operator. Each refers only to those above it. All share the process, and the
// table of kinds, whose queue has the names of kinds that the manager has to look at.

// A process is what all parts share.
type process struct {
	options Options
	clock   clock.Clock
	mgr     manager.Manager
	http    *http.Client
	writer  *apply.Writer
	// reportWriter writes the report, also where the operator is read-only.
	reportWriter *apply.Writer
	// resources, children and reads are the caches of resources, of children, and of what templates
	// read.
	resources *cluster.Resources
	children  *cluster.Children
	reads     *cluster.Reads
	// inFlight tracks running reconciles, and which resources are served.
	inFlight *inFlight
	// ends is true once the process has been told to end.
	ends *atomic.Bool
}

// A kindTable is what is known of all kinds.
type kindTable struct {
	*process
	// names are the kinds to look at.
	names workqueue.TypedRateLimitingInterface[string]
	// divided receives when the share, or what is known of it, has changed.
	divided locks.Signal

	mu       locks.Mutex
	read     bool // the roots have been read
	mapsRead bool // the ConfigMaps have been read, if any are watched
	listed   bool // the CRDs have been listed
	kinds    map[string]*kindState
}

// An apiCatalog knows which kinds the cluster has, by discovery and by CRDs.
type apiCatalog struct {
	*kindTable
	discovery   *cluster.Discovery
	definitions definitions
	// withdrawn receives when CRDs promise less.
	withdrawn locks.Signal
}

// A watchTroubles reports what cannot be watched.
type watchTroubles struct{ *kindTable }

// The wakeUps enqueue resources when children, or what was read, changed.
type wakeUps struct{ *kindTable }

// The resourceLists say of which kinds resources are listed, and know how far that is.
type resourceLists struct{ *kindTable }

// A shareFollower makes known what this replica serves, when its share changes.
type shareFollower struct {
	*kindTable
	apis  *apiCatalog
	lists *resourceLists
	// resourceShare is the share whose resources are listed, and childShare that whose children are,
	// which happens after their owners are. The mutex of the table guards both.
	resourceShare, childShare replicas.Share
}

// A membership is the part of this process in its installation: its Lease, and its share.
type membership struct {
	*kindTable
	lists *resourceLists
	share *shareFollower
	// member and lock are nil unless replicas divide the resources.
	member *replicas.Member
	lock   *replicas.Lock
	// election is the Lease that this process must hold to serve, or nil.
	election resourcelock.Interface
	// ended is closed when nothing is served any more, since the process ends.
	ended chan struct{}
	// leadsSince is when this process began to lead, in Unix nanoseconds, or 0.
	leadsSince atomic.Int64
	// stoodBy is true if its caches were filled before it led.
	stoodBy atomic.Bool
}

// A kindRunner starts and stops kinds: their queues and workers.
type kindRunner struct {
	*kindTable
	apis       *apiCatalog
	lists      *resourceLists
	membership *membership
}

// A revisionStore keeps the revisions of folders as ControllerRevisions.
type revisionStore struct {
	*kindTable
	apis   *apiCatalog
	noHome sync.Once // it was logged that no revisions are kept
}

// A rolloutManager advances rollouts, and keeps what they need on record.
type rolloutManager struct {
	*kindTable
	apis      *apiCatalog
	share     *shareFollower
	runner    *kindRunner
	revisions *revisionStore
}

// A kindReporter reports changes of the state of kinds by logs, events and metrics.
type kindReporter struct{ *kindTable }

// The folderSources are where folders come from: roots and ConfigMaps. The mutex of the table
// guards them.
type folderSources struct {
	*kindTable
	files []folder.Source
	roots roots.Reading // the last one
	maps  []folder.Source
}

// A kindManager brings each kind into its desired state.
type kindManager struct {
	*kindTable
	apis       *apiCatalog
	troubles   *watchTroubles
	lists      *resourceLists
	share      *shareFollower
	membership *membership
	runner     *kindRunner
	revisions  *revisionStore
	rollouts   *rolloutManager
	reporter   *kindReporter
	sources    *folderSources
}

// A statusReporter writes the report that jacquard status reads.
type statusReporter struct {
	*kindTable
	troubles *watchTroubles
	sources  *folderSources

	first   heartbeat.Report         // what stays as it is
	lease   metav1.Object            // as last read or written; nil: not known
	text    string                   // what it says
	logged  map[string]string        // the last trouble, by CRD; "" is the Lease
	refused map[string]time.Time     // when a CRD is written again that could not be
	looked  time.Time                // when the Lease was read or written last
	states  map[string]verdict.State // of kinds, as the metric has them
}

// An apiWatcher watches CRDs and discovery, and enqueues what depends on them.
type apiWatcher struct {
	*kindTable
	apis  *apiCatalog
	share *shareFollower
}

// assembleParts returns an operator with all its parts.
func assembleParts(p *process) *Operator {
	t := &kindTable{process: p, names: workqueue.NewTypedRateLimitingQueue(newKindLimiter()), divided: locks.NewSignal(),
		kinds: map[string]*kindState{}, mapsRead: p.options.Namespace == ""}
	p.inFlight, p.ends = &inFlight{}, &atomic.Bool{}
	o := &Operator{kindTable: t}
	o.apis = &apiCatalog{kindTable: t, withdrawn: locks.NewSignal()}
	o.troubles, o.wakeUps, o.lists = &watchTroubles{t}, &wakeUps{t}, &resourceLists{t}
	o.share = &shareFollower{kindTable: t, apis: o.apis, lists: o.lists}
	o.membership = &membership{kindTable: t, lists: o.lists, share: o.share, ended: make(chan struct{})}
	o.runner = &kindRunner{kindTable: t, apis: o.apis, lists: o.lists, membership: o.membership}
	o.revisions = &revisionStore{kindTable: t, apis: o.apis}
	o.rollouts = &rolloutManager{kindTable: t, apis: o.apis, share: o.share, runner: o.runner, revisions: o.revisions}
	o.reporter = &kindReporter{t}
	o.sources = &folderSources{kindTable: t}
	o.manager = &kindManager{kindTable: t, apis: o.apis, troubles: o.troubles, lists: o.lists, share: o.share, membership: o.membership,
		runner: o.runner, revisions: o.revisions, rollouts: o.rollouts, reporter: o.reporter, sources: o.sources}
	o.report = &statusReporter{kindTable: t, troubles: o.troubles, sources: o.sources, logged: map[string]string{},
		refused: map[string]time.Time{}}
	o.watcher = &apiWatcher{kindTable: t, apis: o.apis, share: o.share}
	return o
}
