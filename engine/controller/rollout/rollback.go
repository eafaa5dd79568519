package rollout

import "strings"

// A Rollback is which revision serves in place of which folder, as it stands on the CRD.
// The zero value is none.
type Rollback struct {
	// To and From are the digests of the revision and of the folder.
	To, From string
	// Request names the request of a person, which a record repeats once it was taken in, or
	// is byOperator.
	Request string
	// Approved are the deletions that the person approved, as ApproveDeletions returns them.
	Approved string
}

// byOperator is the request of a rollback that the operator makes by itself.
const byOperator = "onFailure"

// IsByOperator reports whether the operator rolled back by itself, since the rollout of the folder
// failed.
func (r Rollback) IsByOperator() bool { return r.Request == byOperator }

// ParseRollback parses a rollback. Anything else yields the zero Rollback.
func ParseRollback(text string) Rollback {
	words := strings.Fields(text)
	if len(words) < 2 || len(words) > 4 {
		return Rollback{}
	}
	words = append(words, "", "")
	return Rollback{To: words[0], From: words[1], Request: words[2], Approved: words[3]}
}

// String returns the rollback as it stands on the CRD.
func (r Rollback) String() string {
	return strings.TrimRight(strings.Join([]string{r.To, r.From, r.Request, r.Approved}, " "), " ")
}

// ApproveDeletions returns an approval of what the previews delete, and of what they
// recreate where isRecreated reports so. ParseRollback and Settings take it.
func ApproveDeletions(previews []Preview, isRecreated func(Preview, Child) bool) string {
	approved := newApprovals()
	for _, p := range previews {
		for _, c := range p.Deletes {
			approved.addKey(deletion{p.UID, c}.approvalKey())
		}
		for _, c := range p.Recreates {
			if isRecreated(p, c) {
				approved.addKey(deletion{p.UID, c}.approvalKey())
			}
		}
	}
	return approved.String()
}

// AppliesTo reports whether the revision serves in place of a folder.
func (r Rollback) AppliesTo(folder string) bool { return r.To != "" && folder == r.From }

// EndsWith reports whether the rollback ends, since the present folder is another one than
// it speaks of. It does not end with the folder of the revision: a replica that still has
// that folder may lead for a moment.
func (r Rollback) EndsWith(folder string) bool {
	return r.To != "" && folder != r.From && folder != r.To
}
