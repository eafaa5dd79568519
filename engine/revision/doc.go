// Package revision keeps the states of a folder that were served, each as a
// ControllerRevision of apps/v1 in the operator's namespace, in parts where it is
// large. A revision is named by the digest of the folder, and is only read if what
// it holds has that digest.
//
// Without it, users lose the version before, after a restart in the middle of a
// rollout, and the way back to it.
package revision
