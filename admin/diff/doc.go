// Package diff tells what the operator would do, before it does it: for each
// child whether it would be created, changed, recreated, patched, pruned, given
// back, held or refused, and which of its fields would change. It plans nothing
// by itself: a [reconcile.DryRun] is the operator's own reconciliation with dry runs.
//
// No value of a Secret is ever in what it says.
//
// Without it, users lose the effect of a folder on a cluster, before it is applied.
package diff
