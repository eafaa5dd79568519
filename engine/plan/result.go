package plan

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/live"
)

// A Write is a kind of request that changed something.
type Write string

const (
	// WriteCreate creates a child.
	WriteCreate Write = "create"
	// WriteUpdate changes one.
	WriteUpdate Write = "update"
	// WriteRecreate deletes one that is created again afterwards.
	WriteRecreate Write = "recreate"
	// WriteDelete deletes one for good.
	WriteDelete Write = "delete"
	// WritePatch changes an object that belongs to others.
	WritePatch Write = "patch"
	// WriteRelease gives up the fields of a patch.
	WriteRelease Write = "release"
	// WriteManagedFields changes entries of managedFields.
	WriteManagedFields Write = "managed-fields"
)

// An Outcome is what became of one part of a plan.
type Outcome struct {
	// Writes are the requests that the API server carried out, in order.
	Writes []Write
	// Sent is the document as it was sent last. It has live values of fields that are only set
	// initially.
	Sent *unstructured.Unstructured
	// Over is the object that was changed, perhaps only its metadata. It is nil if the object
	// was created or patched.
	Over metav1.Object
	// Answer is the object as the API server returned it last, or nil. Preview is what a new
	// object would be, if that was asked: it is for people.
	Answer, Preview *unstructured.Unstructured
	// Recreation is set if the child has to be deleted and created again, since the API server
	// refuses to change it. The next plan decides whether it may.
	Recreation *Recreation
	// IsDeleted is true if the child was deleted to be created again, which is for the next
	// plan. Predecessor is the deleted object, if the next one takes over values of it; or nil.
	IsDeleted   bool
	Predecessor *unstructured.Unstructured
	// Dropped is true if a patch could not be released, and our entry in managedFields was
	// removed instead: its fields stay as they are.
	Dropped bool
	// Err is why the part failed.
	Err error
}

// A Result is one part of a plan and its outcome. Metrics, events, the memory, the status and
// dry runs are derived from results.
type Result struct {
	Outcome
	// Exactly one of these is set: a change of the resource itself, a step, a child to delete, or
	// a patch to release.
	Metadata *Metadata
	Step     *Step
	Object   *live.Object
	Release  *Release
	// Skipped is true if the part was not attempted, because another one failed. Lacks names
	// the Secret that does not exist, if the child contains a text that was generated for it.
	Skipped bool
	Lacks   string
}

// Succeeded reports whether the part was carried out, so that nothing is left to do for it.
func (r *Result) Succeeded() bool {
	return r.Err == nil && r.Recreation == nil && !r.IsDeleted && !r.Skipped
}

// Succeeded reports whether all parts were carried out.
func Succeeded(results []Result) bool {
	for i := range results {
		if !results[i].Succeeded() {
			return false
		}
	}
	return true
}
