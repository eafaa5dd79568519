// Package rollout decides how a changed folder reaches the resources of its kind.
//
// A [Rollout] is a state machine over values. It joins the waves, the failures and deletions
// that may stop them, and the approvals. It receives observations (previews, edits,
// outcomes, approvals, the time) and answers two questions: which revision serves a
// resource ([Rollout.Choose]), and which resources change next ([Rollout.Step]). It
// reads no clock, starts no goroutine and sends no request.
//
// Every resource has one [Phase], and the rollout has one [State]. Both change only as
// these tables define:
//
//	phase        event                           becomes
//	Unpreviewed  preview: nothing changes        Unchanged
//	             preview: something changes      Waiting, or Released if its wave is released
//	             preview: cannot be rendered     Failing
//	             preview: already reached        Moved
//	             edited often                    Waiting or Released, unless never previewed
//	Unchanged    edited often                    Waiting
//	Unchanged, Failing, Waiting, Released:
//	             edited                          Unpreviewed
//	             another preview                 as from Unpreviewed
//	Waiting      wave released                   Released
//	Released     about to be served              Moved
//	Moved        served, as ready as before      Ready
//	             served, not as ready            Unready
//	Unready      served, as ready as before      Ready
//	             the rollout continues           Passed
//	Ready        served, not as ready            Unready
//	Passed       served, as ready as before      Ready
//	Created      –
//
//	state        event                                       becomes
//	Previewing   every resource has been previewed           Running, or Stopped if too much would break
//	Running      a child is refused; a deletion that no      Stopped
//	             preview counted; the deadline of a wave;
//	             a pause after a wave; failing resources
//	             when all others are done
//	             the last wave is over                       Complete
//	             the rollback of its folder cannot be        Stopped, for RollbackFailed
//	             carried out
//	Stopped      approved, or the failing resources are      Running
//	             repaired, or the rollback can be, or has
//	             ended
//
// Edits never block a rollout. After two edits, a resource is no longer sent back to its
// preview: it counts as changed by the target, and its wave takes it along. Deletions that
// no preview counted still need [Rollout.MayDelete]. When a rollout is reverted, this holds
// from the first edit on.
//
// Rollouts survive restarts. The [Record] lists the revisions that serve
// resources, and each child carries the revision that last wrote it. The write that moves
// a resource is therefore also the evidence that it was moved: see [Reached] and
// [Record.Serving].
//
// Without it, users lose the stop at the first resource of a bad folder.
package rollout
