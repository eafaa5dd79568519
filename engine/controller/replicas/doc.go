// Package replicas divides the custom resources that one installation serves among its
// replicas. docs/decisions/0013-replicas.md gives the reasons, docs/architecture.md what users are
// promised; a test explores a model of the protocol.
//
// Resources are in buckets, by a hash of their uid. The Lease of the installation records which
// replica serves which bucket, as a [Division]. Besides, each replica has a Lease of its own, and:
//
//   - A replica serves a bucket only while the Division says so, and its own Lease was renewed
//     recently.
//   - A bucket is given away only by its owner, who no longer serves it, or once the API server
//     has said that the owner's Lease is gone.
//   - The Lease of a replica is deleted when that replica ends, or when it was not renewed for its
//     duration. Its name is never used again.
//   - A replica is given buckets only if its Lease confirms the present Division: a Lease with no
//     process behind it gets none.
//
// Without it, users lose more replicas than one that works: it decides which of them serves what.
package replicas
