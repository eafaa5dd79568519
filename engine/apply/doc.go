// Package apply is the only package that writes to the cluster. Every write
// carries a precondition, so that a stale view can never create twice, change
// or delete what is not meant:
//
//   - create-only: server-side apply with metadata.resourceVersion "1" creates
//     the object if it is absent and answers 409 if it exists;
//   - update-only: server-side apply with metadata.uid answers 409 if the
//     object is gone and 422 if it is another one of the same name;
//   - patch: the same without force, under a manager of the resource's own;
//   - delete: with the uid as precondition;
//   - metadata of CRDs and custom resources: merged, with the uid and, where it
//     replaces a list, the resourceVersion.
//
// [Execute] carries out a plan with a [ResourceWriter], which knows what to send for each
// part, and returns results.
//
// Every request is bounded in time, and what the server refuses comes back as a
// [refusals.Refusal]: understood, and without values of what was sent.
//
// Without it, users lose preconditions: a stale cache would lead to wrong writes.
package apply
