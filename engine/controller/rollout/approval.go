package rollout

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// An Approval is a person's approval of a stopped rollout, in the annotation
// jacquard.dev/approved of the CRD.
type Approval struct {
	// Stop is the Record.Stop that is approved.
	Stop string
	// AllWaves extends the approval to later waves.
	AllWaves bool
	// Only restricts the approval to some resources, as NAMESPACE/NAME; the rollout remains
	// stopped.
	Only []string
}

const (
	allWaves = "all-waves"
	only     = "only"
)

// String returns the approval as it stands on the CRD.
func (a Approval) String() string {
	switch {
	case len(a.Only) > 0:
		return a.Stop + " " + only + " " + strings.Join(a.Only, " ")
	case a.AllWaves:
		return a.Stop + " " + allWaves
	}
	return a.Stop
}

// ParseApproval parses "STOP", "STOP all-waves" or "STOP only NAME…". Anything else yields
// the zero Approval, which approves nothing.
func ParseApproval(text string) Approval {
	switch words := strings.Fields(text); {
	case len(words) == 1:
		return Approval{Stop: words[0]}
	case len(words) == 2 && words[1] == allWaves:
		return Approval{Stop: words[0], AllWaves: true}
	case len(words) > 2 && words[1] == only:
		return Approval{Stop: words[0], Only: words[2:]}
	}
	return Approval{}
}

// approvals are what people have approved. They are stored as hashes, so that a long list
// fits into an annotation.
type approvals struct {
	keys map[string]bool
	// allWaves are the reasons that no longer stop any wave.
	allWaves map[Reason]bool
}

func newApprovals() *approvals {
	return &approvals{keys: map[string]bool{}, allWaves: map[Reason]bool{}}
}

func (a *approvals) addKey(key string) { a.keys[key] = true }

// addKeys adds concatenated hashes.
func (a *approvals) addKeys(keys string) {
	for ; len(keys) >= keyLength; keys = keys[keyLength:] {
		a.addKey(keys[:keyLength])
	}
}

func (a *approvals) hasKey(key string) bool { return a.keys[key] }

// isApprovedForAllWaves reports whether a reason no longer stops any wave.
func (a *approvals) isApprovedForAllWaves(reason Reason) bool { return a.allWaves[reason] }

// approveUnready lets the rollout continue without a member, now and whenever it becomes
// unready again.
func (a *approvals) approveUnready(m *member) {
	a.addKey(unreadyKey(m.UID))
	m.applyEvent(passed)
}

// approveRefusal lets the rollout continue although the API refuses a child of a member.
func (a *approvals) approveRefusal(m *member) {
	a.addKey(refusalKey(m.UID))
	if m.refused {
		a.approveUnready(m)
	}
}

// approveIndividually approves that the target serves some members, and deletes what their
// previews list.
func (a *approvals) approveIndividually(some []*member) {
	for _, m := range some {
		a.addKey(individualKey(m.UID))
		for _, c := range m.remainingDeletions() {
			a.addKey(deletion{m.UID, c}.approvalKey())
		}
	}
}

// isApprovedIndividually reports whether a person approved to move this member ahead of its
// wave, including everything that the target would delete now.
func (a *approvals) isApprovedIndividually(m *member) bool {
	return a.hasKey(individualKey(m.UID)) && !slices.ContainsFunc(m.remainingDeletions(), func(c Child) bool {
		return !a.hasKey(deletion{m.UID, c}.approvalKey())
	})
}

const (
	// keyLength is the length of a hash: 48 bits, which makes collisions unlikely.
	keyLength = 8
	// maxApprovals limits the record. After a restart, others have to be approved again.
	maxApprovals = 4096
)

// String returns the concatenated hashes.
func (a *approvals) String() string {
	keys := slices.Sorted(maps.Keys(a.keys))
	return strings.Join(keys[:min(len(keys), maxApprovals)], "")
}

// reasonsForAllWaves returns the reasons that no longer stop any wave.
func (a *approvals) reasonsForAllWaves() []Reason { return slices.Sorted(maps.Keys(a.allWaves)) }

// parseApprovals parses the approvals in a record.
func parseApprovals(keys string, reasons []Reason) *approvals {
	a := newApprovals()
	a.addKeys(keys)
	for _, reason := range reasons {
		if reason.MayApproveAllWaves() {
			a.allWaves[reason] = true
		}
	}
	return a
}

func hashOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:keyLength]
}

func failureKey(uid types.UID) string    { return hashOf("failure", string(uid)) }
func unreadyKey(uid types.UID) string    { return hashOf("unready", string(uid)) }
func refusalKey(uid types.UID) string    { return hashOf("refusal", string(uid)) }
func individualKey(uid types.UID) string { return hashOf("individual", string(uid)) }
func pauseKey(wave int) string           { return hashOf("pause", strconv.Itoa(wave)) }
