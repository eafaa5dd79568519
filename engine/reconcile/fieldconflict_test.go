package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/plan"
)

// A rival takes fields of a child, each time that they are set right.
type rival struct {
	state *resourceState
	now   time.Time
}

// meets returns the step of a child from which these fields are taken.
func (r *rival) meets(taken ...string) *plannedStep {
	child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	child.SetName("a")
	return &plannedStep{
		run: &reconciliation{r: &Reconciler{now: func() time.Time { return r.now }}, known: r.state}, now: r.now,
		Step: &plan.Step{Action: plan.Update, Document: child, Taken: taken, Takers: []string{"other"}},
	}
}

// TestFieldConflict: fields that others take again are set right at once three
// times, and then less and less often; it is told, and never given up. Another
// field, or a quiet time, begins from the start.
func TestFieldConflict(t *testing.T) {
	r := &rival{state: newResourceState(&unstructured.Unstructured{}), now: time.Unix(1e9, 0)}
	writes, told := 0, 0
	for end := r.now.Add(time.Hour); r.now.Before(end); {
		w := r.meets("data.a")
		if !w.inFieldConflict() {
			writes++
		}
		r.state.failures.fieldConflicts[w.childName()].problem.File = "map.yaml:1" // else it is looked for in the template
		if len(w.run.found.problems) > 0 {
			if told++; w.run.found.problems[0].Reason != "Contended" || w.run.found.requeue == 0 {
				t.Fatalf("it says %v, and is looked at again in %s", w.run.found.problems, w.run.found.requeue)
			}
		}
		if writes <= freeRounds && told > 0 {
			t.Fatalf("it is told after %d writes", writes)
		}
		r.now = r.now.Add(time.Second)
	}
	if writes < freeRounds+10 || writes > 30 {
		t.Errorf("it is set right %d times in an hour", writes)
	}
	if w := r.meets("data.b"); w.inFieldConflict() || len(w.run.found.problems) > 0 {
		t.Errorf("another field waits: %v", w.run.found.problems)
	}
	r.now = r.now.Add(time.Hour)
	if w := r.meets("data.b"); w.inFieldConflict() || len(w.run.found.problems) > 0 {
		t.Errorf("it waits after an hour: %v", w.run.found.problems)
	}
}
