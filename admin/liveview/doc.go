// Package liveview looks at a live cluster once, by plain GETs and LISTs, for a
// tool that a person runs: no watches, and no more rights than the person has.
// What it finds out stands in for the operator's caches, so that the operator's
// own road (package reconcile) renders and plans from it: there is no second
// planner.
//
// What may not be read is an error with the rule that is missing, never taken
// for absent. Where a kind may be listed in some namespaces only, those of the
// resources looked at are listed.
//
// Without it, users lose `diff`, `tree` and `explain` with the rights of the person who
// asks.
package liveview
