package verdict

// A Verdict is whether something is healthy.
type Verdict string

const (
	// Healthy means that nobody has to do anything.
	Healthy Verdict = "Healthy"
	// Unhealthy means that something does not work, or waits for a person.
	Unhealthy Verdict = "Unhealthy"
	// Unknown means that it could not be found out, or that it is too early to say.
	Unknown Verdict = "Unknown"
)

// A Severity is how urgent a state is. Alerts about a state have the same.
type Severity string

// The severities.
const (
	None     Severity = "none"
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// A Color is how the page draws a state.
type Color string

// The colors, named by what they stand for most often.
const (
	Green  Color = "ready"
	Amber  Color = "reconciling"
	Red    Color = "stalled"
	Violet Color = "paused"
	Brown  Color = "deleting"
	Gray   Color = "unknown"
)

// A Meaning is what a state means to a person.
type Meaning struct {
	Verdict  Verdict  `json:"verdict"`
	Severity Severity `json:"severity"`
	Color    Color    `json:"color"`
	// Word is the state in words.
	Word string `json:"word"`
}

// Meaning returns the row of the table about s. A state that the table does not have, such
// as one of a newer operator, is not known.
func (s State) Meaning() Meaning {
	if r, found := table[s]; found {
		return r.Meaning
	}
	return Meaning{Unknown, Info, Gray, string(s)}
}

// Verdict returns whether something in this state is healthy.
func (s State) Verdict() Verdict { return s.Meaning().Verdict }

// IsWaitOver reports whether a kind in this state stays in it until a person changes
// something, so that a wait for its present folder fails.
func (s State) IsWaitOver() bool { return table[s].ends }

// IsApprovable reports whether an approval lets the rollout of a kind in this state go on.
func (s State) IsApprovable() bool { return s == RolloutStopped || s == RolloutPaused }

// IsRollout reports whether a kind in this state has a rollout that is not complete.
func (s State) IsRollout() bool {
	return s == RollingOut || s == RolloutStuck || s.IsApprovable()
}

// IsRolledBack reports whether an earlier revision serves a kind in this state.
func (s State) IsRolledBack() bool { return s == RolledBack || s == RolledBackOnFailure }

// HasNoResources reports whether the operator has no resources of a kind in this state.
func (s State) HasNoResources() bool {
	return s == CRDMissing || s == CRDDeleted || s == ServedElsewhere
}

// The exit codes of jacquard status. Code 2 is wrong use, as in every command.
const (
	exitHealthy   = 0
	exitUnhealthy = 1
	exitUnknown   = 3
)

// ExitCode returns the exit code of jacquard status.
func (v Verdict) ExitCode() int {
	switch v {
	case Healthy:
		return exitHealthy
	case Unhealthy:
		return exitUnhealthy
	}
	return exitUnknown
}
