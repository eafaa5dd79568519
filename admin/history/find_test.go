package history

import (
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/revision"
)

// TestFindRevision: a person says a number, or enough of a digest.
func TestFindRevision(t *testing.T) {
	all := []*revision.Revision{{Digest: "aaaaaaaa00000000", Number: 1}, {Digest: "aaaaaaaa11111111", Number: 2}, {Digest: "1234567800000000", Number: 3}}
	for meant, want := range map[string]string{
		"1": "aaaaaaaa00000000", "123456": "1234567800000000", "aaaaaaaa1": "aaaaaaaa11111111",
		"4": "there is no revision 4", "12345": "there is no revision 12345; of a digest, at least 6 characters are needed",
		"aaaa": "there is no revision aaaa; of a digest, at least 6 characters are needed", "bbbbbb": "there is no revision bbbbbb; jacquard history", "aaaaaaaa": "several revisions begin with",
	} {
		r, err := findRevision(all, meant)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && r.Digest != want {
			t.Errorf("%s is %v, %v; want %s", meant, r, err, want)
		}
	}
}
