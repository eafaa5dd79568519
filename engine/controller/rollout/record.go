package rollout

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// A State is how far a rollout is.
type State string

const (
	// Previewing: the target is previewed on all resources, and nothing has changed.
	Previewing State = "Previewing"
	// Running: resources change, wave by wave.
	Running State = "Running"
	// Stopped: the rollout waits for an approval.
	Stopped State = "Stopped"
	// Complete: the target serves every resource.
	Complete State = "Complete"
	// Removed: the folder is gone, and resources can only be deleted. Only a Record has this
	// state; its rollout continues where it was when the folder is there again.
	Removed State = "Removed"
)

// A Reason is why a rollout stopped.
type Reason string

const (
	// RenderFailed: the target cannot render resources that their present revision can.
	RenderFailed Reason = "RenderFailed"
	// Deletes: the target would delete too many children, or one that holds data.
	Deletes Reason = "Deletes"
	// Refused: the API refuses a child.
	Refused Reason = "Refused"
	// NotReady: the resources of a wave did not become ready again in time.
	NotReady Reason = "NotReady"
	// PruneBlocked: the same, but only since children are kept that no longer are rendered, until a
	// person allows to delete them.
	PruneBlocked Reason = "PruneBlocked"
	// Paused: kind.yaml requires an approval after the wave.
	Paused Reason = "Paused"
	// RollbackFailed: a person rolled back, and the revision to return to cannot be used.
	RollbackFailed Reason = "RollbackFailed"
)

// MayApprove reports whether an approval lets a rollout continue that stopped for this reason.
func (r Reason) MayApprove() bool { return r != RollbackFailed }

// IsFailure reports whether a rollout that stopped for this reason has harmed resources. A folder
// with onFailure: rollback is then rolled back.
func (r Reason) IsFailure() bool { return r == NotReady || r == Refused }

// MayApproveAllWaves reports whether an approval can cover later waves too. Deletions are
// approved one by one, and a resource that cannot be rendered stays as it is anyway.
func (r Reason) MayApproveAllWaves() bool { return r.IsFailure() || r == PruneBlocked || r == Paused }

// A Record is the recorded state of a rollout, in an annotation of the kind's CRD. Together
// with the marks on children, it is all that survives a restart.
type Record struct {
	// Revisions serve resources. They are in the order in which they began: the base first,
	// then the targets of abandoned rollouts, and the present target last. Once the target
	// serves every resource, it is the only one. A new target is recorded here before any
	// child is marked with it.
	Revisions []Revision `json:"revisions"`
	State     State      `json:"state"`
	Reason    Reason     `json:"reason,omitempty"`
	Message   string     `json:"message,omitempty"`
	// Stop identifies this stop, so that an approval cannot apply to a different one.
	Stop string `json:"stop,omitempty"`
	// StoppedBy lists the resources that caused a stop for Refused or NotReady, at most 100.
	StoppedBy []string `json:"stoppedBy,omitempty"`
	// Rollback is the request of the rollback that was taken in last and still holds.
	Rollback string `json:"rollback,omitempty"`
	// Failed is the folder that the operator rolled back by itself. It stays until another
	// folder is rolled out, so that the operator does that once.
	Failed Failure `json:"failed,omitzero"`
	// DeletionCount is how many children would be deleted. DeletionNames has at most 20.
	DeletionNames []string `json:"deletionNames,omitempty"`
	DeletionCount int      `json:"deletionCount,omitempty"`
	// Wave is the number of waves that have been released.
	Wave int `json:"wave,omitempty"`
	// Total is the number of resources that the target changes. It serves Moved of them, and
	// Ready of those are as ready as before.
	Total int `json:"total"`
	Moved int `json:"moved"`
	Ready int `json:"ready"`
	// NotReady is the number of resources that the rollout has passed although they were not
	// ready. Passed lists at most 100 of them.
	Passed   []string `json:"passed,omitempty"`
	NotReady int      `json:"notReady,omitempty"`
	// AllWaves lists reasons that no longer stop any wave. Approved contains hashes of all
	// other approvals.
	AllWaves []Reason  `json:"allWaves,omitempty"`
	Approved string    `json:"approved,omitempty"`
	Began    time.Time `json:"began"`
}

// A Failure is the digest of a folder, and why its rollout stopped.
type Failure struct {
	Digest  string `json:"digest"`
	Message string `json:"message"`
}

const (
	maxNamedDeletions = 20
	maxNamedResources = 100
)

// Unknown is the digest of a revision that made children and is not on record.
const Unknown = "unknown"

// ParseRecord parses a record. Anything else yields the zero Record.
func ParseRecord(text string) Record {
	var r Record
	if json.Unmarshal([]byte(text), &r) != nil {
		return Record{}
	}
	return r
}

// ReadRecord reads the record of a kind from the annotations of its CRD. The function key
// returns how an installation calls an annotation. Earlier versions wrote a record without
// revisions, and an annotation with the digest of the folder that had been rolled out last.
// Their approvals, and which resources a rollout had reached, are not read: where that matters,
// the base is Unknown.
func ReadRecord(annotations map[string]string, key func(string) string) Record {
	text, rolledOut := annotations[key(api.AnnotationRollout)], annotations[key(api.AnnotationRolledOut)]
	r := ParseRecord(text)
	if len(r.Revisions) > 0 {
		return r
	}
	var old struct {
		Digest   string            `json:"digest"`
		State    State             `json:"state"`
		Reason   Reason            `json:"reason"`
		Message  string            `json:"message"`
		Wave     int               `json:"wave"`
		Forced   []string          `json:"forced"`
		NotReady int               `json:"notReady"`
		Kept     map[string]string `json:"kept"`
		Rollback string            `json:"rollback"`
		Began    time.Time         `json:"began"`
	}
	_ = json.Unmarshal([]byte(text), &old) // what is no record has no digest
	if old.Digest == "" && rolledOut == "" {
		return Record{}
	}
	r = Record{State: old.State, Reason: old.Reason, Message: old.Message, Wave: old.Wave, Passed: old.Forced, NotReady: old.NotReady,
		Rollback: old.Rollback, Began: old.Began}
	if old.Digest == "" || old.State == Complete {
		r.Revisions, r.State = []Revision{{Digest: cmp.Or(old.Digest, rolledOut)}}, Complete
		return r
	}
	base := cmp.Or(rolledOut, Unknown)
	if old.Digest == rolledOut || len(old.Kept) > 0 { // some resources were served by others
		base = Unknown
	}
	r.Revisions = []Revision{{Digest: base}, {Number: 1, Digest: old.Digest}}
	return r
}

// String returns the record as JSON.
func (r Record) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("encoding a record of texts and numbers: %v", err))
	}
	return string(text)
}

// Target returns the revision that serves every resource, or eventually will. It is zero
// if nothing has been recorded.
func (r Record) Target() Revision {
	if len(r.Revisions) == 0 {
		return Revision{}
	}
	return r.Revisions[len(r.Revisions)-1]
}

// Base returns the revision that served every resource before the rollout. It is zero if
// nothing has been recorded.
func (r Record) Base() Revision {
	if len(r.Revisions) == 0 {
		return Revision{}
	}
	return r.Revisions[0]
}

// IsAbandoned reports whether a rollout of a folder was abandoned, and resources may still be
// served by it.
func (r Record) IsAbandoned(digest string) bool {
	return r.IsUnfinished() && slices.ContainsFunc(r.Revisions[1:len(r.Revisions)-1], func(r Revision) bool { return r.Digest == digest })
}

// RevisionsWith returns the revisions of a rollout of a folder: those on record, and a new
// one unless the folder is the present target.
func (r Record) RevisionsWith(digest string) []Revision {
	if r.Target().Digest == digest {
		return r.Revisions
	}
	return append(slices.Clone(r.Revisions), Revision{Number: r.Target().Number + 1, Digest: digest})
}

// IsUnfinished reports whether there are resources that the target has yet to reach.
func (r Record) IsUnfinished() bool { return len(r.Revisions) > 1 }

// Serving returns the revision that serves a resource unless the rollout chooses the
// target: the latest one among the marks on its children, or else the base. Marks that are
// not in the record belong to other installations, or to revisions that were replaced
// everywhere.
func (r Record) Serving(marks []Revision) Revision {
	for _, revision := range slices.Backward(r.Revisions) {
		if slices.Contains(marks, revision) {
			return revision
		}
	}
	if len(r.Revisions) == 0 {
		return Revision{}
	}
	return r.Revisions[0]
}

// EqualIgnoringProgress reports whether two records are equal except for the progress
// within a wave, which alone does not justify a write.
func (r Record) EqualIgnoringProgress(o Record) bool {
	return slices.Equal(r.Revisions, o.Revisions) && r.State == o.State && r.Wave == o.Wave && r.Stop == o.Stop &&
		r.Message == o.Message && r.Approved == o.Approved && r.NotReady == o.NotReady && slices.Equal(r.Passed, o.Passed) &&
		r.Rollback == o.Rollback && r.Failed == o.Failed
}

// WithRollback returns the record of a rollout that follows another record, and carries out a
// rollback, or none.
func (r Record) WithRollback(back Rollback, before Record) Record {
	if r.Rollback, r.Failed = back.Request, before.Failed; r.Failed.Digest != back.From && r.Failed.Digest != r.Target().Digest {
		r.Failed = Failure{}
	}
	if r.State == Complete && r.Failed.Digest == r.Target().Digest { // it succeeded at last
		r.Failed = Failure{}
	}
	return r
}

// RollBack returns the rollback by which the operator goes back to the base of a rollout that
// failed, and the record with that failure. The rollout is no longer stopped: if a person ends the
// rollback, it continues.
func (r Record) RollBack() (Rollback, Record) {
	r.Failed = Failure{Digest: r.Target().Digest, Message: r.Message}
	r.State, r.Reason, r.Message, r.Stop, r.StoppedBy = Running, "", "", "", nil
	return Rollback{To: r.Base().Digest, From: r.Failed.Digest, Request: byOperator}, r
}

// WithPassed returns the record with these resources as those that the rollout has passed
// although they are not ready.
func (r Record) WithPassed(names []types.NamespacedName) Record {
	r.NotReady, r.Passed = len(names), formatNames(names)
	return r
}

// PassedNames returns the resources that Passed lists.
func (r Record) PassedNames() []types.NamespacedName { return parseNames(r.Passed) }

// beganBefore reports whether the rollout began before a condition changed, which
// conditions note in whole seconds.
func (r Record) beganBefore(changed time.Time) bool {
	return !changed.Before(r.Began.Truncate(time.Second))
}

// formatNames formats names, as many as fit into a record.
func formatNames(names []types.NamespacedName) (texts []string) {
	for _, name := range names[:min(len(names), maxNamedResources)] {
		texts = append(texts, name.String())
	}
	return texts
}

// parseNames parses names of resources: NAMESPACE/NAME, or /NAME.
func parseNames(texts []string) []types.NamespacedName {
	names := make([]types.NamespacedName, len(texts))
	for i, text := range texts {
		namespace, name, _ := strings.Cut(text, "/")
		names[i] = types.NamespacedName{Namespace: namespace, Name: name}
	}
	return names
}
