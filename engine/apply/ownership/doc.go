// Package ownership proves from metadata alone that a live object says what was
// applied: when another writer changes a field, server-side apply takes that
// field out of our entry in metadata.managedFields, while a write of the same
// value leaves it there. So an object that carries the hash of what we apply,
// and whose Apply entry covers every field of it, needs no look at its body.
//
// The hash alone proves nothing, since it is only an annotation; the entry
// alone says which fields are ours, not which values they have.
//
// All functions are pure and keep no reference to what they are given but the
// managedFields entries inside an Entry.
//
// Without it, users lose no requests at rest, and the proof that a child is ours.
package ownership
