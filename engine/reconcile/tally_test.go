package reconcile

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	registry "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/controller/metrics"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/test/memory"
)

// exported are the series about the kind of the test that are not zero, without the
// operator's prefix.
func exported(t *testing.T, names ...string) map[string]float64 {
	t.Helper()
	families, err := registry.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				if l.GetName() != "kind" {
					labels = append(labels, l.GetValue())
				}
			}
			name := strings.TrimPrefix(f.GetName(), "jacquard_")
			for _, wanted := range names {
				if v := m.GetCounter().GetValue() + m.GetGauge().GetValue(); name == wanted && v != 0 {
					all[strings.TrimSpace(name+" "+strings.Join(labels, ","))] = v
				}
			}
		}
	}
	return all
}

// TestCountsDenied: a child that the API server denies counts as denied, by its reason,
// and neither as a failure nor as something that is waited for.
func TestCountsDenied(t *testing.T) {
	for reason, message := range map[string]string{
		"Forbidden":           `configmaps "one" is forbidden: User "u" cannot patch resource "configmaps" in API group "" in the namespace "default"`,
		"QuotaExceeded":       `configmaps "one" is forbidden: exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2`,
		"PodSecurityViolated": `pods "one" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)`,
		"DeniedByPolicy":      `configmaps "one" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`,
		"DeniedByWebhook":     `admission webhook "w.example.com" denied the request: no`,
		"DeniedByAdmission":   `configmaps "one" is forbidden: not on Sundays`,
	} {
		t.Run(reason, func(t *testing.T) {
			metrics.Kind(things).End() // of other tests
			w := newWorld(t, map[string]string{"one.yaml": oneMap})
			w.r.Begin()
			t.Cleanup(metrics.Kind(things).End)
			w.server.Refuse = refusing(answered(http.StatusForbidden, metav1.StatusReasonForbidden, message), applyOne)
			w.turn()
			w.says("when it is denied", reason)
			want := map[string]float64{
				"reconciliations_total denied": 1, "refusals_total " + reason: 1, "resources NotReady": 1, "resources Reconciling": 1,
				"resources_with_problem " + reason: 1,
			}
			if diff := cmp.Diff(want, exported(t, "reconciliations_total", "refusals_total", "resources", "resources_with_problem", "resources_waiting")); diff != "" {
				t.Errorf("(- want, + got)\n%s", diff)
			}
		})
	}
}

// TestLagOfSlowWrite: how long a change takes to be applied is counted from the event to
// the answer of the API server.
func TestLagOfSlowWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		metrics.Kind(things).End() // of other tests
		w := newWorld(t, map[string]string{"one.yaml": oneMap})
		w.r.Begin()
		t.Cleanup(metrics.Kind(things).End)
		const slow = 11 * time.Second
		w.server.Refuse = func(r memory.Request) *metav1.Status {
			if r.String() == applyOne {
				time.Sleep(slow)
			}
			return nil
		}
		w.r.NoteEvent(types.NamespacedName{Namespace: "default", Name: "a"})
		w.turn()
		families, err := registry.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "jacquard_event_to_apply_duration_seconds" && m.GetLabel()[0].GetValue() == things {
					if h := m.GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() != slow.Seconds() {
						t.Errorf("%d changes took %g s, want one of %s", h.GetSampleCount(), h.GetSampleSum(), slow)
					}
					return
				}
			}
		}
		t.Error("no change is counted")
	})
}

// TestCountsWaiting: a resource counts as waiting while it is not ready and neither a
// person nor another alert knows why.
func TestCountsWaiting(t *testing.T) {
	condition := func(kind, is string) any { return map[string]any{"type": kind, "status": is} }
	for name, c := range map[string]struct {
		conditions []any
		problem    string
		readOnly   bool
		want       bool
	}{
		"without a status":          {want: true},
		"children are not ready":    {conditions: []any{condition("Ready", "False"), condition("Reconciling", "True")}, want: true},
		"a write fails":             {conditions: []any{condition("Ready", "False")}, problem: "ApplyFailed", want: true},
		"ready":                     {conditions: []any{condition("Ready", "True")}},
		"stalled":                   {conditions: []any{condition("Ready", "False"), condition("Stalled", "True")}},
		"paused":                    {conditions: []any{condition("Ready", "Unknown"), condition("Paused", "True")}},
		"a right is missing":        {conditions: []any{condition("Ready", "False")}, problem: "Forbidden"},
		"over its quota":            {conditions: []any{condition("Ready", "False")}, problem: "QuotaExceeded"},
		"what is live is not known": {conditions: []any{condition("Ready", "False")}, problem: "ChildrenUnknown"},
		"nothing may be written":    {readOnly: true},
	} {
		t.Run(name, func(t *testing.T) {
			var problems []status.Problem
			if c.problem != "" {
				problems = append(problems, status.Problem{Reason: c.problem})
			}
			resource := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": c.conditions}}}
			if got := standingOf(resource, problems, c.readOnly).IsWaiting; got != c.want {
				t.Errorf("it counts as waiting: %v", got)
			}
		})
	}
}
