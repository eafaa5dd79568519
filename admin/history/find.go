package history

import (
	"fmt"
	"strings"

	"github.com/jacquard-operator/jacquard/engine/revision"
)

// leastDigest is how much of a digest must be given: less could be a number.
const leastDigest = 6

// findRevision returns the revision that a person means: by its number, or by the
// beginning of its digest.
func findRevision(all []*revision.Revision, meant string) (*revision.Revision, error) {
	var found []*revision.Revision
	for _, r := range all {
		if fmt.Sprint(r.Number) == meant {
			return r, nil
		}
		if len(meant) >= leastDigest && strings.HasPrefix(r.Digest, meant) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && len(meant) < leastDigest:
		return nil, fmt.Errorf("there is no revision %s; of a digest, at least %d characters are needed; jacquard history lists them", meant, leastDigest)
	case len(found) == 0:
		return nil, fmt.Errorf("there is no revision %s; jacquard history lists them", meant)
	}
	return nil, fmt.Errorf("several revisions begin with %s: give more of the digest", meant)
}
