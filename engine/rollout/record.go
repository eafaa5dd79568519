package rollout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
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
	// Wave counts the waves that have begun. Done counts the resources that the
	// new version serves, of those that it changes, as the record is written:
	// with each wave.
	Wave int `json:"wave,omitempty"`
	Done int `json:"done"`
	Of   int `json:"of"`
	// Approved are the reasons that a person has approved for this digest.
	Approved []Reason `json:"approved,omitempty"`
	// Began is when it began: what became unready since then counts as made
	// unready by it.
	Began time.Time `json:"began"`
}

// mostNamed is how many deletions a record names.
const mostNamed = 20

// Record returns what the rollout says of itself now.
func (r *Rollout) Record() Record {
	out := Record{
		Digest: r.settings.Digest, State: r.state, Reason: r.reason, Message: r.message, Began: r.began, Wave: r.wave,
		Approved: slices.Sorted(maps.Keys(r.approved)),
	}
	if r.reason == Deletes {
		out.Deleted = len(r.wanted)
		for _, c := range r.wanted[:min(len(r.wanted), mostNamed)] {
			out.Deletes = append(out.Deletes, c.String())
		}
	}
	for _, m := range r.members {
		if m.counts() {
			out.Of++
			if m.over() {
				out.Done++
			}
		}
	}
	return out
}

// Same says whether two records differ in nothing but how far a wave is.
func (r Record) Same(o Record) bool {
	return r.Digest == o.Digest && r.Wave == o.Wave && r.State == o.State && r.Reason == o.Reason && r.Message == o.Message
}

// Approval is what a person writes to approve: the stop that is meant, so that
// another one of the same folder still has to be shown.
func (r Record) Approval() string { return r.Digest + "/" + string(r.Reason) }

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
	text := fmt.Sprintf("%d of %d resources that change are served by the changed folder", r.Done, r.Of)
	if r.State != Stopped {
		return text
	}
	return fmt.Sprintf("%s (%d of %d changed; to go on all the same: jacquard approve %s)", r.Why(), r.Done, r.Of, kind)
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
