package rollout

import "strings"

// A Rollback is which revision serves in place of which folder, by their digests, as it
// stands on the CRD. The zero value is none.
type Rollback struct{ To, From string }

// ReadRollback reads a rollback; what is none is the zero Rollback.
func ReadRollback(text string) Rollback {
	if words := strings.Fields(text); len(words) == 2 {
		return Rollback{words[0], words[1]}
	}
	return Rollback{}
}

// String returns the rollback as it stands on the CRD.
func (r Rollback) String() string { return r.To + " " + r.From }
