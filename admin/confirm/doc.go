// Package confirm holds what commands that change a cluster share before they do so:
// the question on a terminal, and the command line that carries out a plan later.
//
// Without it, users lose commands that act only after a yes, and print the command that
// carries out just what they displayed.
package confirm
