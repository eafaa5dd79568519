// Package reconcile reconciles custom resources: it observes the caches, renders, plans, asks
// the API server what caches that lag behind cannot answer, executes, and publishes the
// status. There is one Reconciler for each kind. It is the only package that writes statuses,
// requeues, logs and records events; all others return errors.
//
// Without it, users lose everything: it is the main path.
package reconcile
