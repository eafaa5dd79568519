package rollout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A State is how far a rollout is.
type State string

const (
	// Running: resources are being changed.
	Running State = "Running"
	// Stopped: a person must approve before it goes on.
	Stopped State = "Stopped"
	// Complete: every resource is served by the new version.
	Complete State = "Complete"
)

// A Reason is why a rollout stopped.
type Reason string

const (
	// RenderFailed: the new version cannot render resources which the running
	// one renders.
	RenderFailed Reason = "RenderFailed"
	// Deletes: it would delete too many children, or precious ones.
	Deletes Reason = "Deletes"
	// Refused: the API refuses a child.
	Refused Reason = "Refused"
	// NotReady: a wave's resources did not become ready again in time.
	NotReady Reason = "NotReady"
	// Paused: kind.yaml wants a person to approve after the wave.
	Paused Reason = "Paused"
	// RollbackFailed: a person rolled back, and the revision to return to cannot be used.
	RollbackFailed Reason = "RollbackFailed"
)

// A Record is what a rollout says of itself on the kind's CRD.
type Record struct {
	Digest  string `json:"digest"`
	State   State  `json:"state"`
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Deletes names children that it would delete, at most 20, and Deleted is
	// how many there are.
	Deletes []string `json:"deletes,omitempty"`
	Deleted int      `json:"deleted,omitempty"`
	// Wanted tells one set of deletions that wait for approval, or one pause, from
	// another.
	Wanted string `json:"wanted,omitempty"`
	// Rollback is the request of the rollback that was taken in last and still holds.
	Rollback string `json:"rollback,omitempty"`
	// Wave counts the waves that have begun. Of counts the resources that the new
	// version changes, Done those of them that it has reached, and Ready those of
	// these that are as ready as before; as the record is written: with each wave.
	Wave  int `json:"wave,omitempty"`
	Done  int `json:"done"`
	Ready int `json:"ready"`
	Of    int `json:"of"`
	// Forced names resources that a person let the rollout go past and that are
	// not ready yet, at most 100, and NotReady is how many there are.
	Forced   []string `json:"forced,omitempty"`
	NotReady int      `json:"notReady,omitempty"`
	// Approved are the reasons for which no wave stops any more, Set hashes of
	// all else that a person has approved for this digest.
	Approved []Reason `json:"approved,omitempty"`
	Set      string   `json:"approvedSet,omitempty"`
	// Began is when it began: what became unready since then counts as made
	// unready by it.
	Began time.Time `json:"began"`
	// Reached are the resources that the new version serves, or is about to, and
	// Kept, by the digest of a version, those that a rollout which was abandoned had
	// reached: others have the version that is rolled out. They are as the record is
	// written, as a Set.
	Reached string            `json:"reached,omitempty"`
	Kept    map[string]string `json:"kept,omitempty"`
}

// since reports whether a condition that changed then did so since the rollout began;
// conditions tell of whole seconds.
func (r Record) since(then time.Time) bool { return !then.Before(r.Began.Truncate(time.Second)) }

// mostNamed is how many deletions a record names, mostForced how many resources.
const (
	mostNamed  = 20
	mostForced = 100
)

// Record returns what the rollout says of itself now.
func (r *Rollout) Record() Record {
	out := Record{
		Digest: r.settings.Digest, State: r.state, Reason: r.reason, Message: r.message, Began: r.began, Wave: r.wave,
		Set: r.approved.String(),
	}
	for _, reason := range slices.Sorted(maps.Keys(r.allWaves)) {
		if r.allWaves[reason] {
			out.Approved = append(out.Approved, reason)
		}
	}
	if r.reason == Deletes {
		wanted := r.wanted()
		for _, d := range wanted[:min(len(wanted), mostNamed)] {
			out.Deletes = append(out.Deletes, d.String())
		}
		out.Deleted, out.Wanted = len(wanted), hashOf(wanted)
	}
	if r.reason == Paused {
		out.Wanted = fmt.Sprintf("wave-%d", r.wave)
	}
	for _, m := range r.members {
		if m.counts() {
			out.Of++
			if m.taken {
				out.Done++
			}
			if m.taken && m.well() {
				out.Ready++
			}
		}
	}
	return out.WithForced(r.Forced())
}

// WithForced is the record with these as the resources that it was forced past and
// that are not ready.
func (r Record) WithForced(names []types.NamespacedName) Record {
	r.NotReady, r.Forced = len(names), nil
	for _, name := range names[:min(len(names), mostForced)] {
		r.Forced = append(r.Forced, name.String())
	}
	return r
}

// ForcedNames are those that Forced names.
func (r Record) ForcedNames() []types.NamespacedName {
	return resourcesOf(r.Forced)
}

// resourcesOf reads names as NAMESPACE/NAME, or /NAME.
func resourcesOf(all []string) []types.NamespacedName {
	var names []types.NamespacedName
	for _, name := range all {
		namespace, name, _ := strings.Cut(name, "/")
		names = append(names, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return names
}

// Same reports whether two records differ in nothing but how far a wave is.
func (r Record) Same(o Record) bool {
	return r.Wave == o.Wave && r.State == o.State && r.Message == o.Message && r.Stop() == o.Stop() && slices.Equal(r.Forced, o.Forced) &&
		r.Set == o.Set && r.NotReady == o.NotReady && r.Rollback == o.Rollback
}

// NamesAll reports whether the record names all that the rollout would delete.
func (r Record) NamesAll() bool { return r.Deleted <= len(r.Deletes) }

// Stop names a stop: the digest of the folder, the reason and, if it would delete, a hash
// of what; or the wave that it paused after.
func (r Record) Stop() string {
	name := r.Digest + "/" + string(r.Reason)
	if r.Wanted != "" {
		name += "/" + r.Wanted
	}
	return name
}

// String returns the record as JSON.
func (r Record) String() string {
	text, err := json.Marshal(r)
	if err != nil { // it holds nothing but texts and numbers
		return fmt.Sprintf("{%q:%q}", "digest", r.Digest)
	}
	return string(text)
}

// Read reads a record; anything else is the zero Record.
func Read(text string) Record {
	var r Record
	if json.Unmarshal([]byte(text), &r) != nil {
		return Record{}
	}
	return r
}

// Text says the record of a kind, by the name of its CRD, in a sentence.
func (r Record) Text(kind string) string {
	switch {
	case r.State != Stopped && r.Message != "":
		return fmt.Sprintf("%s; %s", r.Counts(), r.Message)
	case r.State != Stopped:
		return r.Counts()
	case !r.Reason.MayApprove(): // the message says how to go on
		return fmt.Sprintf("%s (%s)", r.Message, r.Counts())
	}
	list := ""
	if !r.NamesAll() {
		list = "; to list all deletions: jacquard status --deletions " + kind
	}
	return fmt.Sprintf("%s (%s%s; to go on all the same: jacquard approve %s)", r.Why(), r.Counts(), list, kind)
}

// Counts says how far the rollout is.
func (r Record) Counts() string {
	return fmt.Sprintf("of %d resources that change %d are reached, %d of them ready, %d to go%s", r.Of, r.Done, r.Ready, r.Of-r.Done,
		r.ForcedText())
}

// ForcedText says behind a semicolon what the rollout was forced past and is not
// ready; "" for nothing.
func (r Record) ForcedText() string {
	switch {
	case r.NotReady == 0:
		return ""
	case len(r.Forced) == 0:
		return fmt.Sprintf("; forced, %d not ready", r.NotReady)
	}
	return fmt.Sprintf("; forced, %d not ready, as %s", r.NotReady, r.Forced[0])
}

// Why says why the rollout stopped, and what it would delete.
func (r Record) Why() string {
	text := r.Message
	if len(r.Deletes) > 0 {
		text += ": " + strings.Join(r.Deletes, ", ")
		if more := r.Deleted - len(r.Deletes); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}

// ServedBy returns the digest of the version that serves a resource, as the record
// has it; "" is the one that is rolled out.
func (r Record) ServedBy(uid types.UID) string {
	if r.State == Complete || ReadSet(r.Reached).Has(uid) {
		return r.Digest
	}
	for _, digest := range slices.Sorted(maps.Keys(r.Kept)) {
		if ReadSet(r.Kept[digest]).Has(uid) {
			return digest
		}
	}
	return ""
}
