// Package status makes the status of a custom resource: conditions, children
// and the fields of the kind's own status.yaml, as one value that is
// server-side applied. The conditions follow kstatus: Ready is always there;
// Reconciling, Stalled, Paused, ChildrenKept and RolloutPending only while True.
//
// All functions are pure; the time comes in as a value.
//
// Without it, users lose conditions that `kubectl wait`, Argo CD and Flux understand.
package status
