package explain

import (
	"testing"

	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// TestSettleVerdict: a child without conditions counts as ready once the operator has
// reported it so.
func TestSettleVerdict(t *testing.T) {
	child := status.Child{APIVersion: "x.io/v1", Kind: "Thing", Namespace: "a", Name: "x"}
	for message, want := range map[string]bool{readiness.MessageSilent: true, "it has no conditions yet": false} {
		children := []any{map[string]any{"apiVersion": child.APIVersion, "kind": child.Kind, "namespace": "a", "name": "x",
			"ready": want, "message": message}}
		reported := status.ReportedBy(map[string]any{"status": map[string]any{"children": children}})
		if got := SettleVerdict(reported, child, readiness.Verdict{State: readiness.Unreported}); got.IsReady() != want {
			t.Errorf("with the message %q it is %s", message, got.State)
		}
	}
}

// TestSettleClaim: where the class of a claim may not be read, what the operator
// reported stands, if it knew the class.
func TestSettleClaim(t *testing.T) {
	const unconsumed, mounted = "waits for its first consumer: no Pod", "waits for its first consumer: Deployment web mounts it"
	child := status.Child{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "a", Name: "x"}
	unbound := readiness.Verdict{State: readiness.Unbound, Message: "phase Pending"}
	unread, late := readiness.StorageClass{Unknown: "no right"}, readiness.StorageClass{Name: "late", Exists: true, BindsLate: true}
	for name, c := range map[string]struct {
		reported string
		ready    bool
		class    readiness.StorageClass
		verdict  readiness.Verdict
		want     readiness.State
	}{
		"it counts as ready":       {unconsumed, true, unread, unbound, readiness.Unconsumed},
		"it is mounted":            {mounted, false, unread, unbound, readiness.Waiting},
		"the operator has no idea": {"phase Pending", false, unread, unbound, readiness.Waiting},
		"the class can be read":    {mounted, false, late, unbound, readiness.Unconsumed},
		"it is bound":              {unconsumed, true, unread, readiness.Verdict{State: readiness.Ready}, readiness.Ready},
	} {
		t.Run(name, func(t *testing.T) {
			children := []any{map[string]any{"apiVersion": "v1", "kind": child.Kind, "namespace": "a", "name": "x",
				"ready": c.ready, "message": c.reported}}
			reported := status.ReportedBy(map[string]any{"status": map[string]any{"children": children}})
			if got := SettleClaim(reported, child, c.verdict, c.class, ""); got.State != c.want {
				t.Errorf("got %s, want %s", got.State, c.want)
			}
		})
	}
}

// TestFindConsumer: of several workloads that mount a claim and run, the first by kind and
// name is its consumer.
func TestFindConsumer(t *testing.T) {
	makeWorkload := func(kind, name string, replicas int64) map[string]any {
		volume := map[string]any{"persistentVolumeClaim": map[string]any{"claimName": "data"}}
		return map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "n"},
			"spec": map[string]any{"replicas": replicas, "template": map[string]any{"spec": map[string]any{"volumes": []any{volume}}}}}
	}
	claim := map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "data", "namespace": "n"}}
	workloads := []map[string]any{makeWorkload("StatefulSet", "a", 1), makeWorkload("Deployment", "b", 1), makeWorkload("Deployment", "a", 0)}
	if got := FindConsumer(claim, workloads); got != "Deployment b" {
		t.Errorf("got %q", got)
	}
	if got := FindConsumer(claim, workloads[2:]); got != "" {
		t.Errorf("got %q, which is scaled to 0", got)
	}
}
