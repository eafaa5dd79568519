package reconcile

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A played resource writes one object, at times that the test makes up.
type played struct {
	*reconciliation
	now    time.Time
	writes int
	held   time.Duration
}

func play() *played {
	resource := &unstructured.Unstructured{Object: map[string]any{}}
	return &played{reconciliation: (&Reconciler{now: time.Now}).reconciliation(resource, Choice{Version: &Version{Digest: "a"}},
		newResourceState(resource)), now: time.Unix(1e9, 0)}
}

// write has a document with this value written after a while, if it may be.
func (p *played) write(after time.Duration, value any) bool {
	p.now = p.now.Add(after)
	doc := map[string]any{"data": map[string]any{"value": value}}
	p.held = p.recordOscillation(turnout{"child", fmt.Sprint(value), doc, p.now})
	if p.held == 0 {
		p.writes++
	}
	return p.held == 0
}

func (p *played) proofs() int { return p.known.failures.oscillations["child"].proofs }

// TestSwingOfOurOwn: what changes because it was written, and only then, is
// written less and less often, and told.
func TestSwingOfOurOwn(t *testing.T) {
	p := play()
	value := 0
	for end := p.now.Add(time.Hour); p.now.Before(end); {
		after := 100 * time.Millisecond
		if p.held > 0 {
			after = p.held
		}
		if p.write(after, value) {
			value++
		}
	}
	if p.writes > 40 || p.proofs() < oscillationProofs {
		t.Errorf("%d writes in an hour, seen %d times: %+v", p.writes, p.proofs(), p.known.failures.oscillations["child"])
	}
	p.subject.resource.SetGeneration(2)
	if !p.write(0, value) || p.proofs() > 0 {
		t.Error("another generation is not written at once")
	}
}

// TestProgressIsNoSwing: what changes as often without us is written, be it held
// for a while; so is what is new, and what follows of children that are made.
func TestProgressIsNoSwing(t *testing.T) {
	p := play()
	for value := range 200 {
		p.write(time.Second, value)
		if p.proofs() > 0 {
			t.Fatalf("change %d counts as caused by us", value)
		}
	}
	if p.writes < 100 {
		t.Errorf("%d of 200 changes were written", p.writes)
	}
	p = play()
	for value := range 100 {
		p.known.failures.progressed()
		if !p.write(time.Second, value) {
			t.Fatalf("what follows of child %d is held", value)
		}
	}
	p = play()
	for n := range 100 {
		doc := map[string]any{}
		for i := range n {
			doc[fmt.Sprint(i)] = "x"
		}
		if p.recordOscillation(turnout{"child", fmt.Sprint(n), doc, p.now}) > 0 {
			t.Fatalf("new field %d is held", n)
		}
	}
}

// TestReadyAtRest: in a rollout a resource is ready once a reconciliation wrote nothing, and
// holds nothing back that its own writes seem to cause; it is looked at again.
func TestReadyAtRest(t *testing.T) {
	p := play()
	var told []Outcome
	p.r = &Reconciler{served: func(_ *unstructured.Unstructured, came Outcome) { told = append(told, came) }}
	p.choice.MayDelete = func(schema.GroupKind, metav1.Object) error { return nil }
	turn := func(write bool, held string) {
		p.reconciliation.written, p.found = p.known.writes.Load(), findings{}
		if write {
			p.known.writes.Add(1)
		}
		p.known.failures.oscillations["child"] = &oscillation{held: held}
		p.recordServed(true)
	}
	for i, c := range []struct {
		write, ready bool
		held         string
	}{{write: true}, {held: "hash"}, {write: true}, {ready: true}} {
		turn(c.write, c.held)
		if got := told[len(told)-1].Ready; got != c.ready || (p.found.requeue == 0) != c.ready {
			t.Errorf("turn %d: ready is %v, looked at again in %s, want %v", i, got, p.found.requeue, c.ready)
		}
	}
	p.choice.MayDelete = nil
	if turn(true, ""); !told[len(told)-1].Ready || p.found.requeue > 0 {
		t.Error("without a rollout it is not ready at once")
	}
}
