package plan

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestContention: fields that others take again are taken back at once three times, and then
// less and less often. That is reported, and never given up. Another field, or a quiet time,
// begins from the start.
func TestContention(t *testing.T) {
	child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	child.SetName("a")
	takes := func(fields ...string) *Step {
		return &Step{Action: Update, Document: child, Taken: fields, Takers: []string{"other"}}
	}
	a, now, writes, reports := Attempts{}, start, 0, 0
	for end := now.Add(time.Hour); now.Before(end); now = now.Add(time.Second) {
		at := a.BlockingTakeBack(takes("data.a"), now)
		if at == nil {
			writes++
			at = a.TakeBack(takes("data.a"), now)
		}
		if !at.IsContended() {
			continue
		}
		if reports++; at.Problem.Reason != "Contended" || !strings.Contains(at.Problem.Message, "ConfigMap a: other keeps changing data.a") {
			t.Fatalf("it reports %v", at.Problem)
		}
		if writes <= freeRounds {
			t.Fatalf("it is reported after %d writes", writes)
		}
		if !at.ContentionEnds().After(at.Next) {
			t.Fatalf("it is over at %s, and taken back at %s", at.ContentionEnds(), at.Next)
		}
	}
	if writes < freeRounds+10 || writes > 30 || reports == 0 {
		t.Errorf("fields are taken back %d times in an hour, and %d times that is reported", writes, reports)
	}
	if a.BlockingTakeBack(takes("data.b"), now) != nil || a.TakeBack(takes("data.b"), now).IsContended() {
		t.Error("another field waits")
	}
	now = now.Add(time.Hour)
	if a.BlockingTakeBack(takes("data.b"), now) != nil || a.TakeBack(takes("data.b"), now).Tries != 1 {
		t.Error("it waits after an hour")
	}
}
