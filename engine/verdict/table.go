package verdict

// A State is how a kind, a resource, an object or an operator is.
type State string

// The states of a kind.
const (
	// Serving means that its resources are served by its folder.
	Serving State = "Serving"
	// Starting means that it is about to be served.
	Starting State = "Starting"
	// Paused means that it, or a resource, is observed and not changed.
	Paused State = "Paused"
	// RollingOut means that a changed folder is on its way to the resources.
	RollingOut State = "RollingOut"
	// RolloutPaused means that the rollout waits for approval after a wave, as kind.yaml
	// wants it.
	RolloutPaused State = "RolloutPaused"
	// RolloutStuck means that the rollout made no progress for longer than its deadline.
	RolloutStuck State = "RolloutStuck"
	// Stopped means that the rollout waits for a person.
	Stopped State = "Stopped"
	// Broken means that the folder does not load; the last good version, if any, serves.
	Broken State = "Broken"
	// Removed means that the folder is gone, and resources are only deleted.
	Removed State = "Removed"
	// NoCRD means that the folder waits for its CRD.
	NoCRD State = "NoCRD"
	// CRDDeleted means that it was served, and its CRD was deleted with all resources.
	CRDDeleted State = "CRDDeleted"
	// Elsewhere means that another installation serves it.
	Elsewhere State = "Elsewhere"
	// RolledBack means that an earlier revision serves the resources in place of the folder.
	RolledBack State = "RolledBack"
	// RolledBackOnFailure means the same, but no person did it: the rollout of the folder failed.
	RolledBackOnFailure State = "RolledBackOnFailure"
	// NotServed means that no operator runs that serves it. No report has this state.
	NotServed State = "NotServed"
	// Unsettled means that it cannot be served, and is tried again.
	Unsettled State = "Unsettled"
)

// What else is so of a kind, beside its state.
const (
	// ResourcesNotReady means that resources are neither ready nor paused.
	ResourcesNotReady State = "ResourcesNotReady"
	// ResourcesUnread means that whoever asks cannot list the resources.
	ResourcesUnread State = "ResourcesUnread"
	// WatchesFailing means that the operator cannot list or watch what the kind needs.
	WatchesFailing State = "WatchesFailing"
)

// The states of a resource or an object.
const (
	// Ready means that it is ready.
	Ready State = "Ready"
	// Reconciling means that it is not ready, and may become so by itself.
	Reconciling State = "Reconciling"
	// Stalled means that it becomes ready only once a person changes something.
	Stalled State = "Stalled"
	// Deleting means that it is being deleted.
	Deleting State = "Deleting"
	// HealthUnknown means that its kind has no health that is known, so that it counts as
	// ready.
	HealthUnknown State = "HealthUnknown"
)

// The states of an operator and of its leader.
const (
	// Leads means that the leader's Lease is held and renewed.
	Leads State = "Leads"
	// Overdue means that the leader's Lease is held and was not renewed in time, unless the
	// clocks differ.
	Overdue State = "Overdue"
	// Late means that the leader's Lease is held, and was not renewed in time.
	Late State = "Late"
	// Gone means that the leader's Lease is held, and that the service account of the
	// operator is gone, so that nobody can renew it: so an uninstalled operator leaves it.
	Gone State = "Gone"
	// Nobody means that nobody holds the leader's Lease.
	Nobody State = "Nobody"
	// LeaderUnknown means that the Lease may not be read, or that the operator runs
	// without one.
	LeaderUnknown State = "NotKnown"
	// NoOperator means that no operator has reported.
	NoOperator State = "NoOperator"
	// OperatorStarting means that an operator is there, and has not reported yet.
	OperatorStarting State = "OperatorStarting"
	// OperatorUnread means that the report of an operator cannot be read.
	OperatorUnread State = "OperatorUnread"
	// ClaimForsaken means that a CRD has the claim of an operator that is not there.
	ClaimForsaken State = "ClaimForsaken"
	// ReplicaOverdue means that a replica did not renew its Lease in time, unless the clocks
	// differ.
	ReplicaOverdue State = "ReplicaOverdue"
	// ReplicaLate means that a replica did not renew its Lease in time.
	ReplicaLate State = "ReplicaLate"
	// ReplicasNotReady means that Pods of the operator are not ready.
	ReplicasNotReady State = "ReplicasNotReady"
	// BucketsUnowned means that buckets of resources belong to no replica that lives.
	BucketsUnowned State = "BucketsUnowned"
	// RevisionMissing means that a replica does not have the revision that serves all resources
	// of a kind.
	RevisionMissing State = "RevisionMissing"
	// RootMissing means that a root of the operator cannot be read.
	RootMissing State = "RootMissing"
	// RightsMissing means that the operator lacks permissions.
	RightsMissing State = "RightsMissing"
)

// A row is what the table has about a state.
type row struct {
	Meaning
	// ends: the state of a kind lasts until a person changes something.
	ends bool
}

// table has every state.
var table = map[State]row{
	Serving:             {Meaning{Well, None, Green, "serving"}, false},
	Starting:            {Meaning{NotKnown, Info, Amber, "starting"}, false},
	Paused:              {Meaning{Well, Info, Violet, "paused"}, false},
	RollingOut:          {Meaning{Well, Info, Amber, "rolling out"}, false},
	RolloutPaused:       {Meaning{Well, Info, Violet, "paused after a wave"}, true},
	RolloutStuck:        {Meaning{NotWell, Warning, Red, "rollout makes no progress"}, false},
	Stopped:             {Meaning{NotWell, Warning, Red, "rollout stopped"}, true},
	Broken:              {Meaning{NotWell, Warning, Red, "folder does not load"}, true},
	Removed:             {Meaning{NotWell, Warning, Brown, "folder removed"}, true},
	NoCRD:               {Meaning{NotWell, Warning, Red, "no CRD"}, false},
	CRDDeleted:          {Meaning{NotWell, Critical, Red, "CRD deleted"}, true},
	Elsewhere:           {Meaning{Well, Info, Gray, "served elsewhere"}, false},
	RolledBack:          {Meaning{NotWell, Warning, Violet, "rolled back"}, true},
	NotServed:           {Meaning{NotWell, Critical, Red, "not served"}, false},
	RolledBackOnFailure: {Meaning{NotWell, Warning, Red, "rollout failed, rolled back"}, true},
	Unsettled:           {Meaning{NotWell, Warning, Red, "cannot be served"}, false},

	ResourcesNotReady: {Meaning{NotWell, Warning, Red, "resources not ready"}, false},
	ResourcesUnread:   {Meaning{NotKnown, Info, Gray, "could not be read"}, false},
	WatchesFailing:    {Meaning{NotWell, Warning, Red, "watches failing"}, false},

	Ready:         {Meaning{Well, None, Green, "ready"}, false},
	Reconciling:   {Meaning{NotWell, Info, Amber, "reconciling"}, false},
	Stalled:       {Meaning{NotWell, Warning, Red, "stalled"}, false},
	Deleting:      {Meaning{NotWell, Info, Brown, "deleting"}, false},
	HealthUnknown: {Meaning{NotKnown, Info, Gray, "health not known"}, false},

	Leads:            {Meaning{Well, None, Green, "leads"}, false},
	Overdue:          {Meaning{NotKnown, Info, Amber, "Lease overdue"}, false},
	Late:             {Meaning{NotWell, Critical, Red, "does not renew its Lease"}, false},
	Gone:             {Meaning{NotWell, Critical, Red, "uninstalled"}, false},
	Nobody:           {Meaning{NotWell, Critical, Red, "nobody leads"}, false},
	LeaderUnknown:    {Meaning{NotKnown, Info, Gray, "leader not known"}, false},
	NoOperator:       {Meaning{NotWell, Critical, Red, "no operator"}, false},
	OperatorStarting: {Meaning{NotKnown, Info, Amber, "operator starting"}, false},
	OperatorUnread:   {Meaning{NotKnown, Info, Gray, "operator could not be read"}, false},
	ClaimForsaken:    {Meaning{NotWell, Warning, Red, "claimed by an operator that is gone"}, false},
	ReplicaOverdue:   {Meaning{NotKnown, Info, Amber, "Lease of a replica overdue"}, false},
	ReplicaLate:      {Meaning{NotWell, Warning, Red, "replica does not renew its Lease"}, false},
	ReplicasNotReady: {Meaning{NotWell, Warning, Red, "replicas not ready"}, false},
	BucketsUnowned:   {Meaning{NotWell, Critical, Red, "buckets not served"}, false},
	RevisionMissing:  {Meaning{NotWell, Warning, Red, "revision missing in a replica"}, false},
	RootMissing:      {Meaning{NotWell, Warning, Red, "root missing"}, false},
	RightsMissing:    {Meaning{NotWell, Warning, Red, "permissions missing"}, false},
}
