// Package reconcile takes one custom resource down the whole road: observe,
// render, plan, apply, prune, report. There is one Reconciler for every kind.
// It is the one place that writes status, decides when to look again, logs and
// records events; everybody else returns an error.
//
// Without it, users lose everything: it is the road.
package reconcile
