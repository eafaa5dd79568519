package reconcile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/jacquard-operator/jacquard/engine/plan"
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
	p.held = p.recordRepeat(candidateWrite{"child", fmt.Sprint(value), doc, p.now})
	if p.held == 0 {
		p.writes++
		p.known.lastWrite = p.now
	}
	return p.held == 0
}

// TestEchoIsReported: what changes because it was written, and only then, is written less
// and less often, and reported with its field; another generation is written at once.
func TestEchoIsReported(t *testing.T) {
	p := play()
	value := 0
	for end := p.now.Add(time.Hour); p.now.Before(end); {
		if p.write(max(p.held, 100*time.Millisecond), value) {
			value++
		}
	}
	p.r.now = func() time.Time { return p.now }
	p.reportOscillation("child", "ConfigMap a", "map.yaml:1")
	if p.writes > 40 || len(p.found.problems) != 1 || p.found.requeue == 0 || !strings.Contains(p.found.problems[0].Message, "data.value") {
		t.Errorf("%d writes in an hour; it is reported as %v, and looked at again in %s", p.writes, p.found.problems, p.found.requeue)
	}
	p.subject.resource.SetGeneration(2)
	p.found = findings{}
	if p.write(0, value+1); p.held > 0 {
		t.Error("another generation is not written at once")
	}
	if p.reportOscillation("child", "ConfigMap a", "map.yaml:1"); len(p.found.problems) > 0 {
		t.Errorf("another generation is reported: %v", p.found.problems)
	}
}

// TestProgressIsNoEcho: what follows from children that are created is written at once.
func TestProgressIsNoEcho(t *testing.T) {
	p := play()
	for value := range 100 {
		p.known.failures.progressed()
		if !p.write(time.Second, value) {
			t.Fatalf("what follows from child %d is held back", value)
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
		p.reconciliation.written, p.found = p.known.writes, findings{}
		if write {
			p.known.writes++
		}
		p.known.failures.repeats["child"] = &repeat{Repeat: plan.Repeat{Held: held}}
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
	p.choice.MayDelete = nil
	if turn(true, ""); !told[len(told)-1].Ready || p.found.requeue > 0 {
		t.Error("without a rollout it is not ready at once")
	}
}
