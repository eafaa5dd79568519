// Package approve finds the stopped rollout of a kind and lets it continue, if it is
// still stopped for the same.
//
// Without it, users lose `jacquard approve`.
package approve
