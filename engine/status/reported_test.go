package status_test

import (
	"fmt"
	"testing"

	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// TestReportedLasting: what a status says of a child tells a later process what an
// earlier one had waited for.
func TestReportedLasting(t *testing.T) {
	child := func(name string, ready bool, message string) any {
		return map[string]any{"apiVersion": "x.io/v1", "kind": "Thing", "namespace": "a", "name": name, "ready": ready, "message": message}
	}
	many := func(last any) []any {
		all := make([]any, 99, 100)
		for i := range all {
			all[i] = child(fmt.Sprint(i), false, "no")
		}
		return append(all, last)
	}
	const silent, waits = readiness.MessageSilent, "it has no conditions yet"
	for name, c := range map[string]struct {
		children   any // nil: the CRD does not declare them
		conditions map[string]string
		want       readiness.State // Waiting: none
	}{
		"it counts as ready":                    {[]any{child("x", true, silent)}, nil, readiness.Unreported},
		"it is waited for":                      {[]any{child("x", false, waits)}, nil, readiness.Waiting},
		"it had conditions":                     {[]any{child("x", true, "")}, nil, readiness.Waiting},
		"another counts as ready":               {[]any{child("y", true, silent)}, nil, readiness.Waiting},
		"it fails, and the resource is stalled": {[]any{child("x", false, "denied")}, map[string]string{"Stalled": "True"}, readiness.Failing},
		"it fails, and the resource is not":     {[]any{child("x", false, "denied")}, map[string]string{"Reconciling": "True"}, readiness.Waiting},
		"it is new in a stalled resource":       {[]any{child("y", false, "denied")}, map[string]string{"Stalled": "True"}, readiness.Waiting},
		"all that are cut are ready":            {many(child("y", true, "")), nil, readiness.Unreported},
		"some that are cut are not ready":       {many(child("y", false, waits)), nil, readiness.Waiting},
		"no list, and ready":                    {nil, map[string]string{"Ready": "True"}, readiness.Unreported},
		"no list, and not ready":                {nil, map[string]string{"Ready": "False"}, readiness.Waiting},
		"no list, and stalled":                  {nil, map[string]string{"Ready": "False", "Stalled": "True"}, readiness.Failing},
		"no status":                             {nil, nil, readiness.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			fields := map[string]any{}
			if c.children != nil {
				fields["children"] = c.children
			}
			var conditions []any
			for kind, value := range c.conditions {
				conditions = append(conditions, map[string]any{"type": kind, "status": value})
			}
			fields["conditions"] = conditions
			state, lasted := status.ReportedBy(map[string]any{"status": fields}).Lasting(
				status.Child{APIVersion: "x.io/v1", Kind: "Thing", Namespace: "a", Name: "x"})
			settled := status.ReportedBy(map[string]any{"status": fields}).Settle(
				status.Child{APIVersion: "x.io/v1", Kind: "Thing", Namespace: "a", Name: "x"}, readiness.Verdict{State: readiness.Unreported})
			if settled.IsReady() != (c.want == readiness.Unreported) {
				t.Errorf("what has no conditions is %s", settled.State)
			}
			if lasted != (c.want != readiness.Waiting) || state != c.want {
				t.Errorf("got %s, %v, want %s", state, lasted, c.want)
			}
		})
	}
}

// TestReportedClaim: where the class of a claim may not be read, what the operator
// reported stands, if it knew the class.
func TestReportedClaim(t *testing.T) {
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
			if got := reported.SettleClaim(child, c.verdict, c.class, ""); got.State != c.want {
				t.Errorf("got %s, want %s", got.State, c.want)
			}
		})
	}
}
