package health

import (
	"strings"
	"testing"
)

// TestSkew: versions that are too far apart are told of, those that fit or that nobody
// can compare are not.
func TestSkew(t *testing.T) {
	for _, tt := range []struct {
		operator, own, chart string
		want                 []string
	}{
		{"v0.3.1", "v0.3.0", "v0.3.9", nil},
		{"v0.3.0", "v0.2.0", "v0.3.0", nil},
		{"v0.3.0", "v0.4.0", "", nil},
		{"v0.3.0", "commit 0f1e2d3c4b5a", "v0.3.0", nil},
		{"", "v0.9.0", "v0.9.0", nil},
		{"v0.3.0", "v0.1.0", "v0.3.0", []string{"this program is v0.1.0 and the operator v0.3.0"}},
		{"v1.0.0", "v0.9.0", "v1.0.0", []string{"this program is v0.9.0"}},
		{"v0.4.0", "v0.4.0", "v0.3.0", []string{"the chart is of v0.3.0 and the operator v0.4.0"}},
		{"v0.5.0", "v0.1.0", "v0.4.0", []string{"this program", "the chart"}},
	} {
		got := describeSkew(tt.operator, tt.own, tt.chart)
		if len(got) != len(tt.want) {
			t.Errorf("%v: %q", tt, got)
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%v: %q", tt, got)
			}
		}
	}
}
