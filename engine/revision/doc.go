// Package revision keeps the states of a folder that were served, each as a
// ControllerRevision of apps/v1 in the operator's namespace, in parts where it is
// large. A revision is named by the digest of the folder, and is only read if what
// it holds has that digest.
package revision
