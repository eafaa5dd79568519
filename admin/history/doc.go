// Package history tells which revisions of a kind's folder are kept and what each of
// them serves, and rolls a kind back to one.
//
// Without it, users lose `jacquard history` and `jacquard rollback`.
package history
