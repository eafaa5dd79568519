package health

import (
	"strings"
	"testing"
)

// TestJudge: that no operator runs is said only where operators could be looked for.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		h    Health
		want string
	}{
		{Health{}, "no operator was found"},
		{Health{LeasesUnread: "listing leases: forbidden"}, "it is not known whether an operator runs, since its Leases could not be read: " +
			"listing leases: forbidden"},
		{Health{LeasesUnread: "listing leases: forbidden", Installations: []*Installation{{Identity: "a/b"}}}, ""},
		{Health{Starting: []string{"a/b"}}, "a/b has not reported yet: it is starting"},
	} {
		l := &look{Health: &c.h}
		l.judge()
		got := strings.Join(l.Problems, "\n")
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
