// Package live says what an object of the cluster is to the operator: its
// identity, its metadata and as much of its body as is needed, and how much is
// known of a kind. It has values only, so that packages which are pure may use it.
//
// Without it, users lose plans that are values, and so `diff` and tests without a
// cluster.
package live
