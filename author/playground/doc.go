// Package playground is `jacquard render`, `lint`, `explain` and `rbac` for files that are
// in memory. The page of the same name runs it in a browser: author/playground/wasm.
package playground
