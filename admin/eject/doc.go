// Package eject takes everything of Jacquard off the resources of a kind, off
// what was made and patched for them, and off their CRD, and leaves all of it
// running: labels, annotations, owner references, finalizers and entries in
// managedFields. It may be interrupted and begun again at any point.
//
// Without it, users lose the way out.
package eject
