package reconcile

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/plan"
)

// TestUnconfirmed: a write whose answer did not come is remembered until one
// does, whatever that says; what the server refused did not happen.
func TestUnconfirmed(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	for name, c := range map[string]struct {
		before, answer error
		want           int
	}{
		"carried out":                  {nil, nil, 0},
		"no connection":                {nil, errors.New("EOF"), 1},
		"timed out":                    {nil, apierrors.NewTimeoutError("late", 1), 1},
		"refused":                      {nil, apierrors.NewInvalid(schema.GroupKind{}, "a", nil), 0},
		"lost, then carried out":       {errors.New("EOF"), nil, 0},
		"lost, and lost again":         {errors.New("EOF"), errors.New("EOF"), 1},
		"lost, then forbidden, stays":  {errors.New("EOF"), apierrors.NewForbidden(maps, "a", errors.New("no rights")), 1},
		"lost, then invalid, stays":    {errors.New("EOF"), apierrors.NewInvalid(schema.GroupKind{}, "a", nil), 1},
		"lost, then it exists, stays":  {errors.New("EOF"), apierrors.NewAlreadyExists(maps, "a"), 1},
		"lost, then another was there": {errors.New("EOF"), apierrors.NewConflict(maps, "a", errors.New("uid")), 1},
	} {
		state := newMemory(&unstructured.Unstructured{})
		run := learner{&pass{r: &Reconciler{now: time.Now}, memory: state}}
		step := &plan.Step{Action: plan.Create, Document: &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}}
		run.recordUnconfirmed(step, c.before)
		run.recordUnconfirmed(step, c.answer)
		if got := len(state.unconfirmed); got != c.want {
			t.Errorf("%s: %d writes are unconfirmed, want %d", name, got, c.want)
		}
	}
}
