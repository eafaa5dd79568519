package health

import (
	"cmp"
	"slices"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// verdictRanks and severityRanks order verdicts from the worst to the best, and
// severities from the least to the highest.
var (
	verdictRanks  = []verdict.Verdict{verdict.Unhealthy, verdict.Unknown, verdict.Healthy}
	severityRanks = []verdict.Severity{verdict.None, verdict.Info, verdict.Warning, verdict.Critical}
)

// worstState returns the state that decides over several: one that is unhealthy, else one
// that is not known, and of these the most severe one. Of none it returns Serving.
func worstState(states ...verdict.State) verdict.State {
	if len(states) == 0 {
		return verdict.Serving
	}
	return slices.MinFunc(states, compareStates)
}

// compareStates orders states: the worst first.
func compareStates(a, b verdict.State) int {
	x, y := a.Meaning(), b.Meaning()
	return cmp.Or(
		cmp.Compare(slices.Index(verdictRanks, x.Verdict), slices.Index(verdictRanks, y.Verdict)),
		cmp.Compare(slices.Index(severityRanks, y.Severity), slices.Index(severityRanks, x.Severity)),
	)
}
