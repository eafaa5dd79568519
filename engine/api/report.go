package api

import "path"

// AnnotationReport is on a Lease in the operator's own namespace: what the
// operator that leads says of itself, as JSON.
const AnnotationReport = "jacquard.dev/report"

// ReportLease is the name of that Lease, for the installation whose identity is
// given.
func ReportLease(identity string) string { return path.Base(identity) + "-report" }

// PartOf is the label app.kubernetes.io/part-of of what belongs to an
// installation, and its value.
const (
	LabelPartOf = "app.kubernetes.io/part-of"
	PartOf      = "jacquard"
)

// LabelInstance is the label that says which Helm release an object belongs to.
const LabelInstance = "app.kubernetes.io/instance"

// AnnotationDivision is on the installation's Lease: which of its replicas serves what, as
// JSON.
const AnnotationDivision = "jacquard.dev/division"

// AnnotationReplica is on the Lease of a replica: what it says of itself, as JSON.
const AnnotationReplica = "jacquard.dev/replica"

// LabelReplicas is on the Leases of an installation's replicas and on its own: a hash of
// its identity.
const LabelReplicas = "jacquard.dev/replicas"
