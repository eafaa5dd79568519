// Package playground is `jacquard render`, `lint`, `explain` and `rbac` for files that are
// in memory. The page of the same name runs it in a browser: author/playground/wasm.
//
// Without it, users lose a first look in a browser, without a cluster and without an
// installation.
package playground
