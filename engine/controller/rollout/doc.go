// Package rollout decides how a changed folder reaches the resources of its
// kind: which resource is served by which version, in which waves, and when to
// stop and ask a person. Everything comes in as values, the time too.
//
// Without it, users lose the stop at the first resource of a bad folder.
package rollout
