package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestStatusOnTheWay: what tells of progress alone waits for more of it; what
// somebody acts on is said at once.
func TestStatusOnTheWay(t *testing.T) {
	of := func(generation int64, ready int, own map[string]any, problems ...status.Problem) status.Input {
		children := make([]status.Child, 3)
		for i := range children {
			children[i] = status.Child{APIVersion: "v1", Kind: "Pod", Name: string(rune('a' + i)), Ready: i < ready}
		}
		return status.Input{Generation: generation, Children: children, Own: own, Problems: problems}
	}
	forbidden := status.Problem{Severity: status.Retry, Reason: "Forbidden", Message: "no right"}
	counting := func(n string) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Counted", "status": n, "reason": "Is", "message": ""}}}
	}
	for name, c := range map[string]struct {
		before, after status.Input
		waits         bool
	}{
		"a count":                {of(1, 0, nil), of(1, 1, nil), true},
		"a field of its own":     {of(1, 1, map[string]any{"text": "a"}), of(1, 1, map[string]any{"text": "b"}), true},
		"it is ready":            {of(1, 2, nil), of(1, 3, nil), false},
		"it is not ready":        {of(1, 3, nil), of(1, 2, nil), false},
		"a new trouble":          {of(1, 1, nil), of(1, 1, nil, forbidden), false},
		"a trouble that is over": {of(1, 1, nil, forbidden), of(1, 1, nil), false},
		"another generation":     {of(1, 1, nil), of(2, 1, nil), false},
		"a condition of its own": {of(1, 1, counting("True")), of(1, 1, counting("False")), false},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := status.Make(c.before)
			if err != nil {
				t.Fatal(err)
			}
			c.after.Live = before.Status
			after, err := status.Make(c.after)
			if err != nil {
				t.Fatal(err)
			}
			turn := (&Reconciler{now: time.Now}).newReconciliation(nil, Choice{},
				newMemory(&unstructured.Unstructured{Object: map[string]any{}}))
			if turn.mayWait(after, after.Status, before.Status) > 0 {
				t.Error("the first status of a process waits")
			}
			turn.memory.saidAt = time.Now().Add(time.Hour)
			if waits := turn.mayWait(after, after.Status, before.Status) > 0; waits != c.waits {
				t.Errorf("it waits: %v, want %v", waits, c.waits)
			}
		})
	}
}
