package health

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestWorstState: what is unhealthy decides over what is not known, and what is severe comes first.
func TestWorstState(t *testing.T) {
	for _, c := range []struct {
		states []verdict.State
		want   verdict.State
		code   int
	}{
		{nil, verdict.Serving, 0},
		{[]verdict.State{verdict.Serving, verdict.Paused, verdict.RolloutPaused}, verdict.Paused, 0},
		{[]verdict.State{verdict.Serving, verdict.ResourcesUnreadable}, verdict.ResourcesUnreadable, 3},
		{[]verdict.State{verdict.ResourcesUnreadable, verdict.RolledBack, verdict.Serving}, verdict.RolledBack, 1},
		{[]verdict.State{verdict.ResourcesNotReady, verdict.CRDDeleted}, verdict.CRDDeleted, 1},
		{[]verdict.State{"Newer", verdict.Serving}, "Newer", 3},
	} {
		if got := worstState(c.states...); got != c.want || got.Verdict().ExitCode() != c.code {
			t.Errorf("%v: %s, exit code %d, want %s and %d", c.states, got, got.Verdict().ExitCode(), c.want, c.code)
		}
	}
}
