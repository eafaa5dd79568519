package reconcile

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"

	"github.com/jacquard-operator/jacquard/engine/observe"
	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestNewestProblemFirst: of problems as bad as each other, what came up last is
// told first, as long as it is there.
func TestNewestProblemFirst(t *testing.T) {
	invalid := status.Problem{Reason: "Invalid", Message: "applying ConfigMap a: refused"}
	refused := status.Problem{Reason: "RejectedByTemplate", Message: "b.yaml: must not be"}
	m := &published{}
	for i, c := range []struct {
		problems []status.Problem
		first    string
	}{
		{[]status.Problem{invalid}, "Invalid"},
		{[]status.Problem{invalid, refused}, "RejectedByTemplate"},
		{[]status.Problem{refused, invalid}, "RejectedByTemplate"},
		{[]status.Problem{invalid}, "Invalid"},
		{nil, "Ready"},
		{[]status.Problem{refused, invalid}, "Invalid"}, // both are new
	} {
		m.dateProblems(c.problems)
		out, err := status.Make(status.Input{Problems: c.problems})
		if err != nil || out.Reason != c.first {
			t.Errorf("turn %d: %s (%s) first, want %s: %v", i, out.Reason, out.Message, c.first, err)
		}
	}
}

// TestNewProblemsAreEvents: a problem that comes up beside others is an event, be
// its reason that of another; nothing is told twice, and what has been waited for
// all along is not told at all.
func TestNewProblemsAreEvents(t *testing.T) {
	told := events.NewFakeRecorder(99)
	resource := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Web",
		"metadata": map[string]any{"name": "r"}}}
	turn := (&Reconciler{cluster: Cluster{Events: told}}).newReconciliation(resource, Choice{Version: &observe.Version{}}, newMemory(resource))
	a := status.Problem{Reason: "Invalid", Message: "applying ConfigMap a: no a"}
	b := status.Problem{Reason: "Invalid", Message: "applying ConfigMap b: no b"}
	c := status.Problem{Severity: status.Retry, Reason: "Forbidden", Message: "applying ConfigMap c: no c"}
	long := status.Problem{Severity: status.Retry, Reason: "Forbidden", Message: strings.Repeat("d", 2000)}
	waits := status.Problem{Severity: status.Waiting, Reason: "Waiting", Message: "app.yaml: for it"}
	var live map[string]any
	for i, step := range []struct {
		problems []status.Problem
		events   []string
	}{
		{[]status.Problem{a},
			[]string{"Warning Invalid Ready is False (Invalid): applying ConfigMap a: no a; Stalled is True (Invalid): applying ConfigMap a: no a"}},
		{[]status.Problem{a, b}, []string{"Warning Invalid applying ConfigMap b: no b"}},
		{[]status.Problem{b, a}, nil},
		{[]status.Problem{a, b, c, waits}, []string{"Warning Forbidden applying ConfigMap c: no c"}},
		{[]status.Problem{a, b, long}, []string{"Warning Forbidden " + strings.Repeat("d", 1000) + "…"}},
		{[]status.Problem{a}, nil},
		{[]status.Problem{a, b, c}, []string{"Warning Invalid applying ConfigMap b: no b", "Warning Forbidden applying ConfigMap c: no c"}},
	} {
		turn.memory.dateProblems(step.problems)
		turn.found.problems = step.problems
		out, err := status.Make(status.Input{Live: live, Problems: step.problems})
		if err != nil {
			t.Fatal(err)
		}
		live = out.Status
		turn.announceStatus(t.Context(), out)
		var got []string
		for range len(told.Events) {
			got = append(got, <-told.Events)
		}
		if fmt.Sprint(got) != fmt.Sprint(step.events) {
			t.Errorf("step %d: events\n%q, want\n%q", i, got, step.events)
		}
	}
}
