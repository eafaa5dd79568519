package metrics

import "github.com/prometheus/client_golang/prometheus"

// The bounds of what takes parts of a second, and of what may take minutes.
var (
	quick = prometheus.ExponentialBuckets(0.00005, 4, 8)
	slow  = []float64{0.01, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900}
)

// The resources of a kind that this process serves.
var (
	resources = gauge("jacquard_resources",
		"Resources by kind and condition. Each is Ready or NotReady; beside that it may be Reconciling, Stalled or Paused.", "kind", "condition")
	problems = gauge("jacquard_resources_with_problem",
		"Resources that have at least one problem with this reason now.", "kind", "reason")
	waiting = gauge("jacquard_resources_waiting",
		"Resources that are not ready, and that are neither stalled nor paused, denied by the API server, nor in a state that cannot be read.", "kind")
)

// pending is about a read-only operator.
var pending = gauge("jacquard_read_only_pending_resources",
	"Resources that would be changed if the operator were not read-only.", "kind")

// What a kind's workers do.
var (
	reconciliations = counter("jacquard_reconciliations_total",
		"Reconciliations of a resource by result: done, waiting (for something to come), stalled (a person must change something), denied (by RBAC or admission) or failed (it is tried again).", "kind", "result")
	turns = counter("jacquard_turns_total",
		"Deprecated: the name that jacquard_reconciliations_total had before.", "kind", "result")
	writes = counter("jacquard_writes_total",
		"Writes that the API server accepted, by what was done.", "kind", "operation")
	refusals = counter("jacquard_refusals_total",
		"Writes that the API server refused, by why.", "kind", "reason")
	unwatched = gauge("jacquard_watches_forbidden",
		"Kinds of objects that the kind needs watched, and that the operator has no right to list or watch, and namespaces in which its resources may not be listed.", "kind")
	failing = gauge("jacquard_watches_failing",
		"Kinds of objects that the kind needs watched, and that cannot be listed or watched although the operator has the right, and namespaces in which its resources cannot be listed.", "kind")
	skipped = counter("jacquard_applies_skipped_total",
		"Children and patches that were found to say what they should, so that nothing was sent.", "kind")
	corrected = counter("jacquard_drift_corrected_total",
		"Children and patched objects that were set right, by the field manager that had taken fields of them: at most 10 for each kind, the rest is other; unknown where managedFields do not tell.", "kind", "field_manager")
	renderSeconds = histogram("jacquard_render_duration_seconds",
		"Time to render the children of one resource, trials of changed folders included.", quick, "kind")
	lookups = counter("jacquard_skeleton_lookups_total",
		"Parsed skeletons of documents that were looked up in the cache: hit, or miss (and then parsed).", "kind", "result")
	lagSeconds = histogram("jacquard_event_to_apply_seconds",
		"Time from the first event that woke a resource to the end of the turn that wrote to its children.", slow, "kind")
	driftSeconds = histogram("jacquard_drift_correction_seconds",
		"Time from the first event that woke a resource to the end of the reconciliation that set children or patched objects right.", slow, "kind")
)

// The queue of a kind.
var (
	queueDepth = gauge("jacquard_queue_depth",
		"Resources that are due and wait for a worker.", "kind")
	queueSeconds = histogram("jacquard_queue_wait_seconds",
		"Time that a resource that was due waited for a worker.", slow, "kind")
)

// The kinds themselves.
var (
	served = gauge("jacquard_kind_served",
		"1 while this process serves the kind.", "kind")
	kindState = gauge("jacquard_kind_state",
		"1 for the state that the kind is in, as jacquard status names it, with the verdict Well, NotWell or NotKnown. The leader reports it.", "kind", "state", "verdict")
	paused = gauge("jacquard_kind_paused",
		"1 while the kind's CRD has the annotation jacquard.dev/paused.", "kind")
	elsewhere = gauge("jacquard_kind_served_elsewhere",
		"1 while another installation serves a kind that this one has a folder for.", "kind")
	crdDeleted = gauge("jacquard_crd_deleted",
		"1 while a kind that was served has a folder and no CRD any more.", "kind")
	noCRD = gauge("jacquard_crd_missing",
		"1 while a kind that was not served has a folder and no CRD.", "kind")
	loads = counter("jacquard_folder_loads_total",
		"Versions of the kind's folder that were taken up, by what came of it: loaded or broken.", "kind", "result")
	broken = gauge("jacquard_folder_broken",
		"1 while the newest version of the kind's folder does not load.", "kind")
	panicked = counter("jacquard_panics_total",
		"Panics while the kind's folder was loaded or tried, or a resource of it was served: mistakes in the operator, which say in the log where they were.", "kind")
	notUsed = gauge("jacquard_folder_not_used",
		"1 while the kind has a second folder, which is not used.", "kind")
)

// The process.
var (
	leads = gauge("jacquard_leads",
		"1 while this process is the leader.")
	buckets = gauge("jacquard_buckets",
		"Buckets of resources that this process serves; 0 unless replicas divide the resources.")
	unowned = gauge("jacquard_buckets_unowned",
		"Buckets that no replica serves that renews its Lease. The leader counts them; others say 0.")
	strangers = gauge("jacquard_labelled_objects_of_unknown_owners",
		"Objects that wear the label of our children and name no resource that is served here, by the kind that they name; it is empty for those that name none of ours.", "kind")
	rootMissing = gauge("jacquard_root_missing",
		"1 while a root cannot be read, or has no templates/ any more; its kinds are served as before.", "root")
	readOnly = gauge("jacquard_read_only",
		"1 while this process was started to change nothing.")
	buildInfo = gauge("jacquard_build_info",
		"Always 1; the labels say which build this is.", "version", "go_version")
)

// A family is a metric that a kind has series of.
type family interface {
	DeletePartialMatch(labels prometheus.Labels) int
}

// ofRun are the metrics that a kind has while it is served here, ofFolder those
// that it has while it has a folder.
var (
	ofRun = []family{
		resources, problems, waiting, pending, reconciliations, turns, writes, refusals, unwatched, failing, skipped, corrected,
		renderSeconds, lookups, lagSeconds,
		driftSeconds, queueDepth, queueSeconds, served, paused,
	}
	ofFolder = []family{loads, broken, panicked}
)
