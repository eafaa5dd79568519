// Package golden judges golden cases: it says how what came out differs from
// what is wanted, child by child, what an update would write, and which branches
// of the templates no case takes. It reads and writes no files, and shows no
// value of a Secret.
//
// Without it, users lose tests of a folder, and the branches that none covers.
package golden
