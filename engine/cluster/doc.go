// Package cluster is what the operator sees of the cluster. It only reads.
//
// [Discovery] keeps a [Served], an immutable snapshot of which kinds the
// cluster serves. [Resources] keeps the custom resources. [Children] keeps, for
// every kind of child that somebody wants, the objects which carry the label of
// an owner. [Reads] keeps what templates read and what is patched: of objects that
// somebody reads or patched all, of others only what tells whether a query matches
// them.
//
// Neither builds on a shared informer cache, for three reasons. A cache that
// looks a kind's scope up when it removes an informer cannot remove one whose
// CRD is gone or has changed its scope. A write's answer must stand in until
// exactly the watch that would deliver it has passed its resourceVersion, which
// only the store behind that watch knows. And each kind needs its own last
// error. So every kind has a watch: client-go's reflector over a store of this
// package. What a watch promises:
//
//   - Every list is a quorum read, so a watch never starts in the past.
//   - A watch is replaced only once its successor has synced, so that what was
//     known stays known meanwhile.
//   - No callback runs under the lock of what is known.
//
// What resources, children and reads do differently, a policy says: how much is kept of an
// object, what finds it, and whom its change concerns. A reader is told if, and
// only if, one of its queries may now be answered otherwise; and what it
// was answered is never followed by something older, unless the cluster itself
// was put back into its past.
//
// Without it, users lose memory: bodies are kept only of what templates read, and
// watches only of what they name.
package cluster
