// Package health says how Jacquard is in a cluster, with the rights of whoever
// asks: who leads, how the kinds are served, which resources are unhealthy, what
// the operator has no right to. What may not be read is said, and the rest told.
//
// Without it, users lose `jacquard status`.
package health
