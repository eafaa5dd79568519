// Package live says what an object of the cluster is to the operator: its
// identity, its metadata and as much of its body as is needed, and how much is
// known of a kind. It has values only, so that packages which are pure may use it.
package live
