package metrics

import "github.com/prometheus/client_golang/prometheus"

// The bounds of what takes parts of a second, and of what may take minutes.
var (
	quick = prometheus.ExponentialBuckets(0.00005, 4, 8)
	slow  = []float64{0.01, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900}
)

// The resources of a kind that this process serves.
var (
	resources = newGauge("jacquard_resources",
		"Resources by condition: each is `Ready` or `NotReady`, and may also be `Reconciling`, `Stalled` or `Paused`.", "kind", "condition")
	problems = newGauge("jacquard_resources_with_problem",
		"Resources that have a problem with this reason at present. The [table of reasons](operations/alerts-and-troubleshooting.md#reasons) has all.", "kind", "reason")
	waiting = newGauge("jacquard_resources_waiting",
		"Resources that are not ready and wait for another object. They are neither stalled nor paused, denied by "+
			"the API server, nor in a state that cannot be read.", "kind")
)

// pending is about a read-only operator.
var pending = newGauge("jacquard_read_only_pending_resources",
	"Resources that would be changed if the operator were not read-only.", "kind")

// What a kind's workers do.
var (
	reconciliations = newCounter("jacquard_reconciliations_total",
		"Reconciliations of a resource, by result. `done`; `waiting` for another object; `stalled` until a person changes "+
			"something; `denied` by RBAC, a quota, Pod Security, a policy or a webhook, and will be tried again; `failed` for "+
			"another reason, and will be tried again.", "kind", "result")
	writes = newCounter("jacquard_writes_total",
		"Writes that the API server accepted, by operation. Of children: `create`, `update`, `recreate` (deleted, to be created "+
			"again), `delete`. Of other patched objects: `patch`, `release` (of a patch's fields). Of the resource: `status`, "+
			"`metadata` (finalizers, annotations). Of the CRD: `record`. `managed-fields` removes an earlier writer's entry, or `stringData` "+
			"that somebody applied, from managedFields.", "kind", "operation")
	refusals = newCounter("jacquard_refusals_total",
		"Writes that the API server refused, by reason. `Forbidden` (a permission is missing), `QuotaExceeded`, "+
			"`PodSecurityViolated`, `DeniedByPolicy`, `DeniedByWebhook`, `DeniedByAdmission` (another admission plugin), "+
			"`Invalid`, `Conflict`, `NotServed`, `NamespaceNotFound`, `NamespaceTerminating`, `AlreadyExists`, `NotFound`, "+
			"`ServerBusy`.", "kind", "reason")
	unwatched = newGauge("jacquard_watches_forbidden",
		"Kinds of objects that the operator may not list or watch. The kind needs them watched, in some namespace or in all; "+
			"each namespace in which it may not list the kind's own resources adds one.", "kind")
	failing = newGauge("jacquard_watches_failing",
		"Kinds of objects that cannot be listed or watched although the operator has the permission. The kind needs them "+
			"watched; a conversion webhook does not answer, or the API server does not; "+
			"each namespace in which the kind's own resources cannot be listed adds one.", "kind")
	skipped = newCounter("jacquard_applies_skipped_total",
		"Children and patches that were already as desired, so that no request was sent.", "kind")
	corrected = newCounter("jacquard_drift_corrections_total",
		"Children and patched objects whose drift was corrected, by the field manager that caused it. At most 10 are named for "+
			"each kind, `other` is the rest, `unknown` if managedFields do not tell, `jacquard` for patches of other resources.",
		"kind", "field_manager")
	renderSeconds = newHistogram("jacquard_render_duration_seconds",
		"Time to render the children of one resource, including previews of changed folders.", quick, "kind")
	lookups = newCounter("jacquard_template_cache_requests_total",
		"Documents whose parsed skeleton was looked up in the cache: `hit` or `miss`.", "kind", "result")
	lagSeconds = newHistogram("jacquard_event_to_apply_duration_seconds",
		"Time from the first event about a resource until its children are written.", slow, "kind")
	driftSeconds = newHistogram("jacquard_drift_correction_duration_seconds",
		"Time from the first event about a resource until drift of its children is corrected. Patched objects count too.",
		slow, "kind")
)

// The queue of a kind.
var (
	queueDepth = newGauge("jacquard_queue_depth",
		"Resources that wait for a worker.", "kind")
	queueSeconds = newHistogram("jacquard_queue_wait_duration_seconds",
		"How long a resource waited for a worker.", slow, "kind")
)

// The kinds themselves.
var (
	served = newGauge("jacquard_kind_served",
		"1 while this process serves the kind.", "kind")
	kindState = newGauge("jacquard_kind_state",
		"1 for the present state of the kind, with its verdict. The verdict of a [state](tools.md#states) is `Healthy`, "+
			"`Unhealthy` or `Unknown`; only the leader reports it.", "kind", "state", "verdict")
	paused = newGauge("jacquard_kind_paused",
		"1 while the kind's CRD has the annotation `jacquard.dev/paused`.", "kind")
	elsewhere = newGauge("jacquard_kind_served_elsewhere",
		"1 while another operator serves a kind that this one has a folder for.", "kind")
	crdDeleted = newGauge("jacquard_crd_deleted",
		"1 while a kind that was served has a folder but no longer a CRD.", "kind")
	noCRD = newGauge("jacquard_crd_missing",
		"1 while a kind that was never served has a folder but no CRD.", "kind")
	loads = newCounter("jacquard_folder_loads_total",
		"Versions of the kind's folder that were read: `loaded` or `invalid`.", "kind", "result")
	invalid = newGauge("jacquard_folder_invalid",
		"1 while the newest version of the kind's folder does not load.", "kind")
	panicked = newCounter("jacquard_panics_total",
		"Panics that were caught. They happen while a folder is loaded or previewed, a resource is served, or its children or reads "+
			"are watched (`kind` is empty if no kind is known), and are "+
			"bugs of the operator, whose place is in the log (`stack`). Please report them. Each affects only that folder, resource or kind of object.", "kind")
	duplicate = newGauge("jacquard_folder_duplicate",
		"1 while the kind has a second folder, which is not used.", "kind")
)

// The process.
var (
	leads = newGauge("jacquard_leader",
		"1 while this process is the leader.")
	buckets = newGauge("jacquard_buckets",
		"[Buckets](operations/high-availability.md#how-the-resources-are-divided) that this replica serves; 0 with `--buckets 0`.")
	unowned = newGauge("jacquard_buckets_unowned",
		"Buckets that no replica serves. They have no owner, or their owner does not renew its Lease; the "+
			"leader counts them every ten seconds, the other replicas report 0.")
	strangers = newGauge("jacquard_objects_with_unknown_owner",
		"Objects that have the label `jacquard.dev/owner-uid` of a resource that is not served. They are counted every minute, by "+
			"the kind that they name; `kind` is empty for objects that name none of the kinds served here. They are copies, leftovers of "+
			"deleted resources, or children of another operator. Each needs some hundred bytes of memory.", "kind")
	rootMissing = newGauge("jacquard_root_missing",
		"1 while the root cannot be read. A [live root](operations/kinds.md#live-roots) that no longer has `templates/` cannot be "+
			"read either; its kinds are served as before.", "root")
	readOnly = newGauge("jacquard_read_only",
		"1 while this process runs in read-only mode.")
	buildInfo = newGauge("jacquard_build_info",
		"Always 1; the labels identify the build.", "version", "go_version")
)

// A family is a metric that a kind has series of.
type family interface {
	DeletePartialMatch(labels prometheus.Labels) int
}

// ofRun are the metrics that a kind has while it is served here, ofFolder those
// that it has while it has a folder.
var (
	ofRun = []family{
		resources, problems, waiting, pending, reconciliations, writes, refusals, unwatched, failing, skipped, corrected,
		renderSeconds, lookups, lagSeconds,
		driftSeconds, queueDepth, queueSeconds, served, paused,
	}
	ofFolder = []family{loads, invalid, panicked}
)
