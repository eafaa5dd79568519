// Package typecheck follows the templates of a folder without running them: with
// types instead of values, along every branch.
//
// What it gives is what is wrong with the templates as such (Finding), what
// they read of the resource, and the skeleton of every document that they can
// make, whose leaves know what stands there (Way, Document, Value): what the
// checks on children, and the exposure of fields, are made of.
//
// # Ways
//
// A branch's condition is not evaluated. A file is walked along a small set of
// paths: the first takes every branch, a loop's body once (or twice, where it
// asks which turn it is or uses what the last one set), and each further way
// takes one branch otherwise, until every side of every branch was on some way.
// So there are about as many paths as branches. What the branches of a path say
// of values holds behind them (fact.go, assume.go), and sides that cannot be
// are not walked. What a loop sets and what fromYaml makes of an include is
// joined over all paths, in rounds, until nothing is added.
//
// Bounds: after 100 paths each takes all sides that no way took yet; 400 paths and 400,000 steps for a file, 20,000 steps for a path. What
// is beyond them is not followed, and Flow.Cut names the file: fewer findings,
// never wrong ones.
//
// Without it, users lose mistakes in branches that no example takes, found before
// anything is applied. It follows paths and not a join of types, since the fixtures of
// lint need to say on which path something goes wrong.
package typecheck
