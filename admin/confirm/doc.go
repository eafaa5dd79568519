// Package confirm holds what commands that change a cluster share before they do so:
// the question on a terminal, and the command line that carries out a plan later.
package confirm
