package reconcile

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/plan"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestReadyAtRest: in a rollout a resource is ready once a reconciliation wrote nothing, and
// holds nothing back that its own writes seem to cause; it is looked at again.
func TestReadyAtRest(t *testing.T) {
	resource := &unstructured.Unstructured{Object: map[string]any{}}
	p := (&Reconciler{now: time.Now}).newReconciliation(resource, Choice{Version: &observe.Version{Digest: "a"}}, newMemory(resource))
	var told []Outcome
	p.r = &Reconciler{served: func(_ *unstructured.Unstructured, came Outcome) { told = append(told, came) }}
	p.choice.MayDelete = func(schema.GroupKind, metav1.Object) error { return nil }
	turn := func(write bool, held string) {
		p.written, p.found = p.memory.writes, findings{}
		if write {
			p.memory.writes++
		}
		p.memory.attempts[plan.Key{Operation: plan.OpRepeat}] = &plan.Attempt{Repeat: plan.Repeat{Held: held}}
		p.recordServed(true, nil)
	}
	for i, c := range []struct {
		write, ready bool
		held         string
	}{{write: true}, {held: "hash"}, {write: true}, {ready: true}} {
		turn(c.write, c.held)
		if got := told[len(told)-1].Ready; got != c.ready || (p.found.requeue == 0) != c.ready {
			t.Errorf("turn %d: ready is %v, looked at again in %s, want %v", i, got, p.found.requeue, c.ready)
		}
		if got := told[len(told)-1].WouldBeReady; got != c.write {
			t.Errorf("turn %d: it would be ready but for its writes: %v, want %v", i, got, c.write)
		}
	}
	if p.recordServed(false, []status.Problem{{Reason: api.ReasonChildFailed}}); !told[len(told)-1].Failed {
		t.Error("a resource with a failed child may become ready by waiting")
	}
	p.choice.MayDelete = nil
	if turn(true, ""); !told[len(told)-1].Ready || p.found.requeue > 0 {
		t.Error("without a rollout it is not ready at once")
	}
}
