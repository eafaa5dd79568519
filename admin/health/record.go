package health

import "github.com/jacquard-operator/jacquard/engine/controller/rollout"

// ProgressByRecord returns how far a rollout is by its record, for a command that waits
// for its end. kind is the name of the CRD, and done says what the end is.
func ProgressByRecord(r rollout.Record, kind, done string) Progress {
	switch r.State {
	case rollout.Complete:
		return Progress{Done: true, Message: done + r.ForcedText()}
	case rollout.Stopped:
		return Progress{Failed: true, Message: "Stopped: " + r.Text(kind)}
	}
	return Progress{Message: "RollingOut: " + r.Text(kind)}
}
