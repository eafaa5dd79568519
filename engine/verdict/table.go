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
	// RolloutStopped means that the rollout waits for a person.
	RolloutStopped State = "RolloutStopped"
	// FolderInvalid means that the folder does not load; the last good version, if any, serves.
	FolderInvalid State = "FolderInvalid"
	// FolderRemoved means that the folder is gone, and resources are only deleted.
	FolderRemoved State = "FolderRemoved"
	// CRDMissing means that the folder waits for its CRD.
	CRDMissing State = "CRDMissing"
	// CRDDeleted means that it was served, and its CRD was deleted with all resources.
	CRDDeleted State = "CRDDeleted"
	// ServedElsewhere means that another installation serves it.
	ServedElsewhere State = "ServedElsewhere"
	// RolledBack means that an earlier revision serves the resources in place of the folder.
	RolledBack State = "RolledBack"
	// RolledBackOnFailure means the same, but no person did it: the rollout of the folder failed.
	RolledBackOnFailure State = "RolledBackOnFailure"
	// NotServed means that no operator runs that serves it. No report has this state.
	NotServed State = "NotServed"
	// ServingFailed means that it cannot be served, and is tried again.
	ServingFailed State = "ServingFailed"
)

// What else is so of a kind, beside its state.
const (
	// ResourcesNotReady means that resources are neither ready nor paused.
	ResourcesNotReady State = "ResourcesNotReady"
	// ResourcesUnreadable means that whoever asks cannot list the resources.
	ResourcesUnreadable State = "ResourcesUnreadable"
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
	// Leading means that the leader's Lease is held and renewed.
	Leading State = "Leading"
	// LeaseOverdue means that the leader's Lease is held and was not renewed in time, unless the
	// clocks differ.
	LeaseOverdue State = "LeaseOverdue"
	// LeaseExpired means that the leader's Lease is held, and was not renewed in time.
	LeaseExpired State = "LeaseExpired"
	// Uninstalled means that the leader's Lease is held, and that the service account of the
	// operator is gone, so that nobody can renew it: so an uninstalled operator leaves it.
	Uninstalled State = "Uninstalled"
	// NoLeader means that nobody holds the leader's Lease.
	NoLeader State = "NoLeader"
	// LeaderUnknown means that the Lease may not be read, or that the operator runs
	// without one.
	LeaderUnknown State = "LeaderUnknown"
	// NoOperator means that no operator has reported.
	NoOperator State = "NoOperator"
	// OperatorStarting means that an operator is there, and has not reported yet.
	OperatorStarting State = "OperatorStarting"
	// OperatorUnreadable means that the report of an operator cannot be read.
	OperatorUnreadable State = "OperatorUnreadable"
	// ClaimAbandoned means that a CRD has the claim of an operator that is not there.
	ClaimAbandoned State = "ClaimAbandoned"
	// ReplicaLeaseOverdue means that a replica did not renew its Lease in time, unless the clocks
	// differ.
	ReplicaLeaseOverdue State = "ReplicaLeaseOverdue"
	// ReplicaLeaseExpired means that a replica did not renew its Lease in time.
	ReplicaLeaseExpired State = "ReplicaLeaseExpired"
	// ReplicasNotReady means that Pods of the operator are not ready.
	ReplicasNotReady State = "ReplicasNotReady"
	// BucketsUnowned means that buckets of resources belong to no replica that lives.
	BucketsUnowned State = "BucketsUnowned"
	// RevisionMissing means that a replica does not have the revision that serves all resources
	// of a kind.
	RevisionMissing State = "RevisionMissing"
	// RootMissing means that a root of the operator cannot be read.
	RootMissing State = "RootMissing"
	// PermissionsMissing means that the operator lacks permissions.
	PermissionsMissing State = "PermissionsMissing"
)

// A row is what the table has about a state.
type row struct {
	Meaning
	// ends: the state of a kind lasts until a person changes something.
	ends bool
}

// table has every state.
var table = map[State]row{
	Serving:             {Meaning{Healthy, None, Green, "serving"}, false},
	Starting:            {Meaning{Unknown, Info, Amber, "starting"}, false},
	Paused:              {Meaning{Healthy, Info, Violet, "paused"}, false},
	RollingOut:          {Meaning{Healthy, Info, Amber, "rolling out"}, false},
	RolloutPaused:       {Meaning{Healthy, Info, Violet, "paused after a wave"}, true},
	RolloutStuck:        {Meaning{Unhealthy, Warning, Red, "rollout makes no progress"}, false},
	RolloutStopped:      {Meaning{Unhealthy, Warning, Red, "rollout stopped"}, true},
	FolderInvalid:       {Meaning{Unhealthy, Warning, Red, "folder does not load"}, true},
	FolderRemoved:       {Meaning{Unhealthy, Warning, Brown, "folder removed"}, true},
	CRDMissing:          {Meaning{Unhealthy, Warning, Red, "no CRD"}, false},
	CRDDeleted:          {Meaning{Unhealthy, Critical, Red, "CRD deleted"}, true},
	ServedElsewhere:     {Meaning{Healthy, Info, Gray, "served elsewhere"}, false},
	RolledBack:          {Meaning{Unhealthy, Warning, Violet, "rolled back"}, true},
	NotServed:           {Meaning{Unhealthy, Critical, Red, "not served"}, false},
	RolledBackOnFailure: {Meaning{Unhealthy, Warning, Red, "rollout failed, rolled back"}, true},
	ServingFailed:       {Meaning{Unhealthy, Warning, Red, "cannot be served"}, false},

	ResourcesNotReady:   {Meaning{Unhealthy, Warning, Red, "resources not ready"}, false},
	ResourcesUnreadable: {Meaning{Unknown, Info, Gray, "could not be read"}, false},
	WatchesFailing:      {Meaning{Unhealthy, Warning, Red, "watches failing"}, false},

	Ready:         {Meaning{Healthy, None, Green, "ready"}, false},
	Reconciling:   {Meaning{Unhealthy, Info, Amber, "reconciling"}, false},
	Stalled:       {Meaning{Unhealthy, Warning, Red, "stalled"}, false},
	Deleting:      {Meaning{Unhealthy, Info, Brown, "deleting"}, false},
	HealthUnknown: {Meaning{Unknown, Info, Gray, "health not known"}, false},

	Leading:             {Meaning{Healthy, None, Green, "leads"}, false},
	LeaseOverdue:        {Meaning{Unknown, Info, Amber, "Lease overdue"}, false},
	LeaseExpired:        {Meaning{Unhealthy, Critical, Red, "does not renew its Lease"}, false},
	Uninstalled:         {Meaning{Unhealthy, Critical, Red, "uninstalled"}, false},
	NoLeader:            {Meaning{Unhealthy, Critical, Red, "nobody leads"}, false},
	LeaderUnknown:       {Meaning{Unknown, Info, Gray, "leader not known"}, false},
	NoOperator:          {Meaning{Unhealthy, Critical, Red, "no operator"}, false},
	OperatorStarting:    {Meaning{Unknown, Info, Amber, "operator starting"}, false},
	OperatorUnreadable:  {Meaning{Unknown, Info, Gray, "operator could not be read"}, false},
	ClaimAbandoned:      {Meaning{Unhealthy, Warning, Red, "claimed by an operator that is gone"}, false},
	ReplicaLeaseOverdue: {Meaning{Unknown, Info, Amber, "Lease of a replica overdue"}, false},
	ReplicaLeaseExpired: {Meaning{Unhealthy, Warning, Red, "replica does not renew its Lease"}, false},
	ReplicasNotReady:    {Meaning{Unhealthy, Warning, Red, "replicas not ready"}, false},
	BucketsUnowned:      {Meaning{Unhealthy, Critical, Red, "buckets not served"}, false},
	RevisionMissing:     {Meaning{Unhealthy, Warning, Red, "revision missing in a replica"}, false},
	RootMissing:         {Meaning{Unhealthy, Warning, Red, "root missing"}, false},
	PermissionsMissing:  {Meaning{Unhealthy, Warning, Red, "permissions missing"}, false},
}
