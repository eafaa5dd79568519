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
			if lasted != (c.want != readiness.Waiting) || state != c.want {
				t.Errorf("got %s, %v, want %s", state, lasted, c.want)
			}
		})
	}
}
