// Package observe looks at what the caches contain of one custom resource and its children, and
// answers what templates read. It writes nothing, and remembers nothing: a [Snapshot] is what is
// known at one moment, and all answers that it gives agree with each other.
//
// Without it, users lose templates that read the cluster, and the certainty that a child which
// is not known to exist is not taken for gone.
package observe
