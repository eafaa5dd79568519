// Package trial runs golden cases on a cluster where an operator serves their kind,
// in a namespace of their own. It changes nothing outside of this namespace.
//
// Without it, users lose golden cases on a cluster.
package trial
