package status_test

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// wasReady is the status of a resource whose generation 7 was applied.
func wasReady(t *testing.T) map[string]any {
	t.Helper()
	return mustMake(t, status.Input{}).Status
}

// A turn is what a status is made from, and what it says.
type turn struct {
	paused     bool
	generation int64
	children   []status.Child
	problems   []status.Problem
	// want is Ready and why, and the reason of Paused.
	want string
}

// pauses are what happens to a resource, by name.
func pauses() map[string][]turn {
	ready, unready := []status.Child{child("a", true, "")}, []status.Child{child("a", false, "x")}
	return map[string][]turn{
		"changed meanwhile": {
			{false, 7, ready, nil, "True Ready "},
			{true, 7, ready, nil, "True Ready Paused"},
			{true, 8, ready, nil, "Unknown Paused NotApplied"},
			{true, 8, unready, nil, "False ChildrenNotReady NotApplied"},
			{true, 8, ready, nil, "Unknown Paused NotApplied"},
			{false, 8, ready, nil, "True Ready "},
			{true, 8, ready, nil, "True Ready Paused"},
		},
		"changed and paused at once": {
			{false, 7, ready, nil, "True Ready "},
			{true, 8, ready, nil, "Unknown Paused NotApplied"},
		},
		"made paused": {
			{true, 7, nil, nil, "Unknown Paused NotApplied"},
			{true, 7, nil, nil, "Unknown Paused NotApplied"},
			{false, 7, ready, nil, "True Ready "},
		},
		"not applied before": {
			{false, 7, ready, []status.Problem{problem(status.Stalled, "RenderFailed", "m")}, "False RenderFailed "},
			{true, 7, ready, nil, "Unknown Paused NotApplied"},
			{true, 7, ready, nil, "Unknown Paused NotApplied"},
		},
		"applied, and a child not ready": {
			{false, 7, unready, nil, "False ChildrenNotReady "},
			{true, 7, unready, nil, "False ChildrenNotReady Paused"},
			{true, 7, ready, nil, "True Ready Paused"},
		},
		"a failed child": {
			{false, 7, []status.Child{failedJob}, nil, "False ChildFailed "},
			{true, 7, ready, nil, "True Ready Paused"},
		},
		"a trouble that comes while paused": {
			{false, 7, ready, nil, "True Ready "},
			{true, 7, ready, nil, "True Ready Paused"},
			{true, 7, ready, []status.Problem{problem(status.Retry, "ChildrenUnknown", "m")}, "False ChildrenUnknown Paused"},
			{true, 7, ready, nil, "True Ready Paused"},
		},
	}
}

// TestMakePaused: a paused resource is not Ready while a change of it waits for
// the end of the pause, whatever becomes of the children meanwhile.
func TestMakePaused(t *testing.T) {
	for name, turns := range pauses() {
		var live map[string]any
		for i, turn := range turns {
			out, err := status.Make(status.Input{Generation: turn.generation, Live: live, Children: turn.children, Problems: turn.problems,
				Paused: turn.paused})
			if err != nil {
				t.Fatal(err)
			}
			live = out.Status
			said := map[string]map[string]any{}
			for _, c := range live["conditions"].([]any) {
				said[c.(map[string]any)["type"].(string)] = c.(map[string]any)
			}
			why, _ := said["Paused"]["reason"].(string)
			if got := said["Ready"]["status"].(string) + " " + said["Ready"]["reason"].(string) + " " + why; got != turn.want {
				t.Errorf("%s, turn %d: %s; %s was expected", name, i+1, got, turn.want)
			}
		}
	}
}
