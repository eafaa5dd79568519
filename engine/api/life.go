package api

import "path"

// Lease is the name of the Lease by which one operator of an installation works
// at a time: that of the installation, whose identity is given.
func Lease(identity string) string { return path.Base(identity) + "." + Domain }

// Annotations on a CRD about the life of its kind.
const (
	// AnnotationOperator is the identity of the installation that serves the
	// kind; no other one touches it.
	AnnotationOperator = "jacquard.dev/operator"
	// AnnotationRolledOut is the digest of the folder that serves every
	// resource of the kind.
	AnnotationRolledOut = "jacquard.dev/rolled-out"
	// AnnotationRollout is how far the newest rollout is, as JSON.
	AnnotationRollout = "jacquard.dev/rollout"
	// AnnotationState is how the kind is served, as a word of the report: Serving,
	// RollingOut, RolloutStopped, FolderInvalid. Health checks of GitOps tools read it.
	AnnotationState = "jacquard.dev/state"
	// AnnotationStateLease is the Lease that the operator which wrote the state renews
	// while it lives, NAMESPACE/NAME: the state is not written again to confirm it.
	AnnotationStateLease = "jacquard.dev/state-lease"
	// AnnotationApproved is which stop of a rollout is approved, as
	// DIGEST/REASON; the operator takes it off once it is used.
	AnnotationApproved = "jacquard.dev/approved"
	// AnnotationRollback is which revision of the folder is served in place of which
	// folder, as REVISION FOLDER, two digests, then the name of the request and the
	// deletions that are approved with it; the operator takes it off once the folder is
	// another one.
	AnnotationRollback = "jacquard.dev/rollback"
)

// Labels on ControllerRevisions that hold a state of a folder, or what a stopped rollout
// would delete.
const (
	// LabelRevision is the digest of the folder.
	LabelRevision = "jacquard.dev/revision"
	// LabelStop is a hash of the stop of a rollout whose deletions are listed.
	LabelStop = "jacquard.dev/stop"
	// LabelInstallation is a hash of the identity of the installation that keeps it.
	LabelInstallation = "jacquard.dev/installation"
)

// Annotations on ConfigMaps that hold a folder.
const (
	// AnnotationKind is the kind's name where it is longer than the value of
	// LabelKind may be.
	AnnotationKind = "jacquard.dev/kind"
	// AnnotationPart says which part of a folder it is, such as "1/3", and
	// after a blank anything that all parts of one state of it have in common.
	AnnotationPart = "jacquard.dev/part"
	// AnnotationConfig holds settings for the kind, on the first part: a map by key, as
	// the kind's entry in a file for --config, in whose place it stands.
	AnnotationConfig = "jacquard.dev/config"
)
