// Package render turns a custom resource and what is known of the cluster into
// the children that it should have: the same road for the operator, for
// `jacquard render` and for tests. It is pure: no client, no clock, no
// environment, no randomness.
//
// Without it, users lose the resource's children.
package render
