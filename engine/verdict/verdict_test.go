package verdict

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

var (
	verdicts   = []Verdict{Unhealthy, Unknown, Healthy}
	severities = []Severity{None, Info, Warning, Critical}
)

// TestTable: each row is complete, and nothing that is healthy is worse than information.
func TestTable(t *testing.T) {
	for state, r := range table {
		if r.Word == "" || slices.Index(verdicts, r.Verdict) < 0 || slices.Index(severities, r.Severity) < 0 || r.Color == "" {
			t.Errorf("the row of %s is incomplete: %+v", state, r)
		}
		if (r.Verdict == Unhealthy) != (r.Severity == Warning || r.Severity == Critical) && !isPassing(state) {
			t.Errorf("%s is %s with the severity %s", state, r.Verdict, r.Severity)
		}
	}
}

// isPassing reports whether a state is unhealthy, and no reason to warn anybody yet.
func isPassing(s State) bool { return s == Reconciling || s == Deleting }

// documented is a row of the table of kinds' states in docs/tools.md.
var documented = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` \\| (healthy|unhealthy|unknown) \\| ")

// TestDocumentedStates: docs/tools.md has every state that a kind may have, and its verdict.
func TestDocumentedStates(t *testing.T) {
	text, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[Verdict]string{Healthy: "healthy", Unhealthy: "unhealthy", Unknown: "unknown"}
	got := map[State]string{}
	for _, m := range documented.FindAllStringSubmatch(string(text), -1) {
		got[State(m[1])] = m[2]
	}
	want := map[State]string{}
	for _, s := range ofKinds {
		want[s] = words[s.Verdict()]
	}
	if !maps.Equal(got, want) {
		t.Errorf("docs/tools.md has %v, want %v", got, want)
	}
}

// ofKinds are the states that a kind may have.
var ofKinds = []State{Serving, Starting, Paused, RollingOut, RolloutPaused, RolloutStuck, RolloutStopped, FolderInvalid, FolderRemoved, CRDMissing, CRDDeleted,
	ServedElsewhere, RolledBack, RolledBackOnFailure, NotServed, ServingFailed}
