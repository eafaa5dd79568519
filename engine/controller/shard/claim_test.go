package shard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestYield: who gives a kind up takes the claim and its records off, unless
// others have a share of it.
func TestYield(t *testing.T) {
	mine := Shard{Identity: "jacquard"}
	crd := &metav1.ObjectMeta{Annotations: map[string]string{
		"jacquard.dev/operator": "jacquard", "jacquard.dev/rolled-out": "1234", "jacquard.dev/child-kinds": "ConfigMap",
	}}
	if diff := cmp.Diff(map[string]any{"jacquard.dev/operator": nil, "jacquard.dev/rolled-out": nil}, mine.Yield(crd)); diff != "" {
		t.Error(diff)
	}
	if got := (Shard{Identity: "other"}).Yield(crd); got != nil {
		t.Errorf("another's: %v", got)
	}
	crd.Annotations["operator.jacquard.dev/team-a-12"] = `{"identity":"ops/team-a","selector":"team=a"}`
	if got := mine.Yield(crd); got != nil {
		t.Errorf("beside another: %v", got)
	}
}

// TestTakenUp: whoever takes a kind up that another installation had served
// begins without its records, and so tries its folder.
func TestTakenUp(t *testing.T) {
	crd := &metav1.ObjectMeta{Annotations: map[string]string{"jacquard.dev/rolled-out": "1234", "jacquard.dev/child-kinds": "ConfigMap"}}
	if diff := cmp.Diff(map[string]any{"jacquard.dev/operator": "jacquard/jacquard", "jacquard.dev/rolled-out": nil},
		(Shard{Identity: "jacquard/jacquard"}).ClaimAnnotation(crd)); diff != "" {
		t.Error(diff)
	}
}
