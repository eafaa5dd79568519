// Package metrics holds every metric of the operator: what there is, and the
// only ways to change it. docs/metrics.md says the same for people. Metrics are
// labelled by kind, the CRD's name, never by an object's name, and what is about
// a kind goes with it.
//
// Without it, users lose alerts.
package metrics
