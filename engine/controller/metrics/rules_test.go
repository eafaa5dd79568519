package metrics

import (
	"os"
	"os/exec"
	"testing"
)

// TestRules: promtool finds no fault in the chart's rules. With the series of processes
// that restart, need much memory or are missing, the alerts about them fire, and with
// others they do not; the objectives are recorded. In each situation that lasts for hours,
// such as a quota that is full, exactly the alerts fire that it should give.
func TestRules(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal("there is no promtool: .ci/run installs Debian's prometheus")
	default:
		t.Skip("there is no promtool: install Debian's package prometheus")
	}
	for _, args := range [][]string{
		{"check", "rules", "../../../charts/jacquard/files/alerts.yaml"},
		{"test", "rules", "testdata/rules.yaml"},
		{"test", "rules", "testdata/situations.yaml"},
	} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
