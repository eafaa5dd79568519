package metrics

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/jacquard-operator/jacquard/engine/locks"
)

// A Kind is the metrics of one kind; it is the name of its CRD.
type Kind string

// An Operation is what a write did.
type Operation string

// The operations.
const (
	Create        Operation = "create"
	Update        Operation = "update"
	Recreate      Operation = "recreate" // deleted, to be recreated
	Delete        Operation = "delete"
	Patch         Operation = "patch"
	ReleaseFields Operation = "release"        // a patch
	ManagedFields Operation = "managed-fields" // took an entry of managedFields off
	Status        Operation = "status"
	Metadata      Operation = "metadata" // finalizers and annotations of the resource
	Record        Operation = "record"   // annotations of the CRD
)

var operations = []Operation{Create, Update, Recreate, Delete, Patch, ReleaseFields, ManagedFields, Status, Metadata, Record}

// A Result is what came of a reconciliation.
type Result string

// The results.
const (
	Done    Result = "done"
	Waiting Result = "waiting"
	Stalled Result = "stalled"
	Denied  Result = "denied" // by RBAC or admission
	Failed  Result = "failed"
)

// results are all of them, from best to worst.
var results = []Result{Done, Waiting, Stalled, Denied, Failed}

// Worse returns the worse one of two results.
func Worse(a, b Result) Result {
	if slices.Index(results, a) > slices.Index(results, b) {
		return a
	}
	return b
}

// conditions are those that resources are counted by.
var conditions = []string{"Ready", "NotReady", "Reconciling", "Stalled", "Paused"}

// Begin says that this process serves the kind from now on. Every series whose
// labels are known is there from the start, since what appears with a value
// above zero does not look like an increase. The reasons are those of Refused.
func (k Kind) Begin(reasons []string) {
	name := string(k)
	k.initSeries(resources, conditions)
	waiting.WithLabelValues(name)
	for _, result := range results {
		reconciliations.WithLabelValues(name, string(result))
	}
	for _, o := range operations {
		writes.WithLabelValues(name, string(o))
	}
	for _, reason := range reasons {
		refusals.WithLabelValues(name, reason)
	}
	lookups.WithLabelValues(name, "hit")
	lookups.WithLabelValues(name, "miss")
	skipped.WithLabelValues(name)
	renderSeconds.WithLabelValues(name)
	lagSeconds.WithLabelValues(name)
	driftSeconds.WithLabelValues(name)
	served.WithLabelValues(name).Set(1)
	k.Unwatched(0)
	k.Failing(0)
	k.Paused(false)
}

// initSeries makes a series of value 0 for each label.
func (k Kind) initSeries(of *prometheus.GaugeVec, labels []string) {
	for _, label := range labels {
		of.WithLabelValues(string(k), label).Set(0)
	}
}

// End says that this process does not serve the kind any more.
func (k Kind) End() {
	k.delete(ofRun)
	takers.forgetKind(k)
}

// NoFolder says that the kind has no folder any more, or no CRD.
func (k Kind) NoFolder() { k.delete(ofFolder) }

func (k Kind) delete(families []family) {
	for _, f := range families {
		f.DeletePartialMatch(prometheus.Labels{"kind": string(k)})
	}
}

// Wrote counts a write.
func (k Kind) Wrote(o Operation) { writes.WithLabelValues(string(k), string(o)).Inc() }

// Refused counts a refused write.
func (k Kind) Refused(reason string) { refusals.WithLabelValues(string(k), reason).Inc() }

// Skipped counts applies that were not needed.
func (k Kind) Skipped(n int) { skipped.WithLabelValues(string(k)).Add(float64(n)) }

// Reconciled counts a reconciliation.
func (k Kind) Reconciled(r Result) {
	reconciliations.WithLabelValues(string(k), string(r)).Inc()
}

// Rendered notes how long a render took.
func (k Kind) Rendered(took time.Duration) {
	renderSeconds.WithLabelValues(string(k)).Observe(took.Seconds())
}

// LookedUp counts skeletons that were found in the cache and those that were not.
func (k Kind) LookedUp(hits, misses uint64) {
	lookups.WithLabelValues(string(k), "hit").Add(float64(hits))
	lookups.WithLabelValues(string(k), "miss").Add(float64(misses))
}

// Applied notes how long after its first event a resource was served.
func (k Kind) Applied(lag time.Duration) {
	lagSeconds.WithLabelValues(string(k)).Observe(lag.Seconds())
}

// Undone notes how long after its first event drift of a resource was undone.
func (k Kind) Undone(lag time.Duration) {
	driftSeconds.WithLabelValues(string(k)).Observe(lag.Seconds())
}

// Corrected counts an object that was set right after these field managers had
// taken fields of it.
func (k Kind) Corrected(managers []string) {
	if len(managers) == 0 {
		corrected.WithLabelValues(string(k), "unknown").Inc()
	}
	for _, m := range managers {
		corrected.WithLabelValues(string(k), takers.labelOf(k, m)).Inc()
	}
}

// manyTakers bounds how many field managers are named for each kind.
const manyTakers = 10

// A managerNames knows which field managers metrics name.
type managerNames struct {
	mu   locks.Mutex
	seen map[Kind]map[string]bool
}

var takers = managerNames{seen: map[Kind]map[string]bool{}}

// labelOf returns how metrics name a field manager: the first ones of a kind by their names.
func (n *managerNames) labelOf(k Kind, manager string) string {
	if strings.HasPrefix(manager, "jacquard-") { // a patch of some resource, named by its uid
		return "jacquard"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen[k] == nil {
		n.seen[k] = map[string]bool{}
	}
	if !n.seen[k][manager] && len(n.seen[k]) >= manyTakers {
		return "other"
	}
	n.seen[k][manager] = true
	return manager
}

// forgetKind forgets the field managers of a kind.
func (n *managerNames) forgetKind(k Kind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.seen, k)
}
