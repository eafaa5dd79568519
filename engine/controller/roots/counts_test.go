package roots

import (
	"testing"
	"time"
)

// TestCounts: what was added or edited counts at once, what lost something once it is
// quiet.
func TestCounts(t *testing.T) {
	two := Files{"a.yaml": {100, 2}, "b.yaml": {50, 1}}
	for _, tt := range []struct {
		name        string
		before, now Files
		quiet       time.Duration
		want        bool
	}{
		{"the first folder", nil, two, 0, true},
		{"an empty folder at first", nil, Files{}, 0, true},
		{"what cannot be read at first", nil, nil, 0, true},
		{"the same again", two, two, 0, true},
		{"an edit that adds", two, Files{"a.yaml": {101, 2}, "b.yaml": {50, 1}}, 0, true},
		{"an edit of the same length", two, Files{"a.yaml": {100, 2}, "b.yaml": {50, 1}}, 0, true},
		{"a new file", two, Files{"a.yaml": {100, 2}, "b.yaml": {50, 1}, "c.yaml": {1, 1}}, 0, true},
		{"a shorter file", two, Files{"a.yaml": {99, 2}, "b.yaml": {50, 1}}, 0, false},
		{"a shorter file that is quiet", two, Files{"a.yaml": {99, 2}, "b.yaml": {50, 1}}, QuietPeriod, true},
		{"a shorter file that is nearly quiet", two, Files{"a.yaml": {99, 2}, "b.yaml": {50, 1}}, QuietPeriod - 1, false},
		{"a shorter file beside a longer one", two, Files{"a.yaml": {200, 2}, "b.yaml": {49, 1}}, 0, false},
		{"a longer file with fewer documents", two, Files{"a.yaml": {120, 1}, "b.yaml": {50, 1}}, 0, false},
		{"a file less", two, Files{"a.yaml": {100, 2}}, 0, false},
		{"a file less beside a new one", two, Files{"a.yaml": {100, 2}, "c.yaml": {500, 5}}, 0, false},
		{"a file less that is quiet", two, Files{"a.yaml": {100, 2}}, QuietPeriod, true},
		{"an empty folder", two, Files{}, 0, false},
		{"no folder that can be read", two, nil, 0, false},
		{"no folder, and quiet", two, nil, QuietPeriod, true},
		{"no folder after an empty one", Files{}, nil, 0, false},
		{"back after it was gone, and not complete", two, Files{"b.yaml": {50, 1}}, time.Second, false},
	} {
		at := time.Unix(1000, 0)
		if got := Counts(tt.before, tt.now, at.Add(-tt.quiet), at); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
