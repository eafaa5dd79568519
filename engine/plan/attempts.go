package plan

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// An Operation is the kind of work that an attempt is about.
type Operation string

const (
	// OpWrite creates, changes or patches an object.
	OpWrite Operation = "Write"
	// OpRecreate deletes a child that is created again.
	OpRecreate Operation = "Recreate"
	// OpTakeBack takes back fields that other managers took.
	OpTakeBack Operation = "TakeBack"
	// OpRepeat writes what may follow from our own last write.
	OpRepeat Operation = "Repeat"
	// OpDelete deletes a child for good.
	OpDelete Operation = "Delete"
	// OpRelease gives up the fields of a patch.
	OpRelease Operation = "Release"
	// OpStatus writes the status.
	OpStatus Operation = "Status"
	// OpStatusFields writes the fields of status.yaml in it.
	OpStatusFields Operation = "StatusFields"
	// OpMetadata writes finalizers and annotations of the resource.
	OpMetadata Operation = "Metadata"
	// OpPrepare reads and records what a reconciliation depends on.
	OpPrepare Operation = "Prepare"
)

// A Key identifies what is attempted. With a UID it is about one object, and not about the
// next object of the same name.
type Key struct {
	Operation Operation
	Ref       Ref
	UID       types.UID
}

// An Attempt remembers work that failed, or whose effect the watch does not show yet.
type Attempt struct {
	// Hash is the hash of the content, if there is any. Other content is tried at once.
	Hash string
	// Tries is the number of consecutive attempts.
	Tries int
	// Next is when to try again; zero means not until the content changes, or until the watch
	// shows the effect.
	Next time.Time
	// Problem is for the status, and Err is the error.
	Problem status.Problem
	Err     error
	// Fields are those that an OpTakeBack took back last, at Last, or that differ in what an
	// OpRepeat holds back from what was Written last.
	Fields  []string
	Last    time.Time
	Written map[string]any
	Repeat  Repeat
	// Obstacle identifies what others own of the object, if the write failed for that.
	Obstacle string
	// Refused is set for an OpRelease that the API server refused.
	Refused *RefusedRelease
}

// A RefusedRelease is a patch that cannot be released.
type RefusedRelease struct {
	Release Release
	// IsForbidden is true if a permission is missing. Otherwise, the API server refuses the
	// object that would be left: since At, and IsDropped is true once our entry in
	// managedFields was removed instead.
	IsForbidden bool
	At          time.Time
	IsDropped   bool
	// IsAnnounced is true once an event has reported that the patch stays.
	IsAnnounced bool
}

// releaseTimeout is how long a resource reports a patch that cannot be released, and waits
// with it.
const releaseTimeout = 10 * time.Minute

// Ends returns when a patch that cannot be released is not waited for any more; zero if
// always.
func (r *RefusedRelease) Ends() time.Time {
	if r == nil || r.At.IsZero() {
		return time.Time{}
	}
	return r.At.Add(releaseTimeout)
}

// IsOver reports whether a patch that cannot be released is not waited for any more.
func (r *RefusedRelease) IsOver(now time.Time) bool {
	ends := r.Ends()
	return !ends.IsZero() && !now.Before(ends)
}

// Attempts remember what failed, and when to try it again.
type Attempts map[Key]*Attempt

// A Retry is a back-off: it begins with Min, and doubles up to Max. Without Max, the same
// content is never tried again.
type Retry struct{ Min, Max time.Duration }

const (
	// minWait is the shortest time until something is tried again.
	minWait = time.Second
	// forgetAfter is how long after its time an attempt counts as the first one again.
	forgetAfter = 5 * time.Minute
)

// DelayAfter returns how long to wait after a number of consecutive failures.
func (r Retry) DelayAfter(tries int) time.Duration {
	d := max(r.Min, minWait)
	longest := max(r.Max, d)
	for range min(tries-1, 20) {
		d = min(2*d, longest)
	}
	return wait.Jitter(d, 0.2)
}

// Fail records a failure, and returns the attempt.
func (a Attempts) Fail(k Key, hash string, r Retry, now time.Time) *Attempt {
	at := a[k]
	if at == nil || at.Hash != hash || !at.Next.IsZero() && now.Sub(at.Next) > forgetAfter {
		at = &Attempt{Hash: hash}
		a[k] = at
	}
	at.Tries++
	at.Next = time.Time{}
	if r.Max > 0 {
		at.Next = now.Add(r.DelayAfter(at.Tries))
	}
	return at
}

// AwaitWatch records that something was sent whose effect the watch does not show yet.
func (a Attempts) AwaitWatch(k Key) { a[k] = &Attempt{} }

// Blocking returns the attempt that this content has to wait for, or nil.
func (a Attempts) Blocking(k Key, hash string, now time.Time) *Attempt {
	at := a[k]
	if at == nil || at.Hash != hash || !at.Next.IsZero() && !now.Before(at.Next) {
		return nil
	}
	return at
}

// Forget forgets the attempts at these operations that are due, or have no time, and that are
// not planned any more.
func (a Attempts) Forget(planned map[Key]bool, now time.Time, operations ...Operation) {
	maps.DeleteFunc(a, func(k Key, at *Attempt) bool {
		for _, o := range operations {
			if k.Operation == o {
				return !planned[k] && !now.Before(at.Next)
			}
		}
		return false
	})
}

// Reset forgets what was not to be tried again, since a person asks to reconcile. The fields
// of a status that were refused stay refused.
func (a Attempts) Reset() {
	maps.DeleteFunc(a, func(k Key, _ *Attempt) bool { return k.Operation != OpStatusFields && k.Operation != OpPrepare })
}
