// Package controller is the process: it watches folders and CRDs, compiles what it finds, and runs
// one Reconciler with its own queue and workers for every kind that has both. Kinds come and go
// while it runs. A folder that does not load leaves the last valid version running.
//
// parts.go lists the parts of the process. A pass over a kind is in sync.go: it observes
// (observekind.go), decides (package kinds), records, serves (kindrunner.go) and advances the
// rollout (advance.go). What this replica serves is in share.go, and its Lease in election.go.
//
// Without it, users lose kinds that come and go without a restart.
package controller
