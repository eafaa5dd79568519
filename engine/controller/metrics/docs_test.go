package metrics

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestDescriptions: the description of a metric names every value of its labels that is
// known from the start, and its first sentence is the help.
func TestDescriptions(t *testing.T) {
	var text strings.Builder
	for _, m := range defined {
		text.WriteString(m.Description)
		if !strings.HasSuffix(m.Description, ".") || strings.ContainsAny(m.Description, "|\n") {
			t.Errorf("%s: its description is no sentence for a table: %q", m.Name, m.Description)
		}
	}
	for _, label := range []string{"condition", "result", "operation"} {
		for _, value := range values[label] {
			if !strings.Contains(text.String(), "`"+value+"`") {
				t.Errorf("no description names the %s %s", label, value)
			}
		}
	}
	m := Metric{Description: "1 while a [root](operations/kinds.md) has no `templates/`. Rarely so."}
	if got, want := m.helpText(), "1 while a root has no templates/."; got != want {
		t.Errorf("the help is %q, want %q", got, want)
	}
}

// values are those of labels that are known from the start.
var values = map[string][]string{
	"condition": conditions,
	"result":    append(texts(results), "hit", "miss", "loaded", "invalid"),
	"operation": texts(operations),
}

func texts[T ~string](all []T) (out []string) {
	for _, o := range all {
		out = append(out, string(o))
	}
	return out
}

// TestNames: names are as Prometheus wants them, and no label names an object.
func TestNames(t *testing.T) {
	labels := map[string]bool{}
	for _, m := range defined {
		if counts := strings.HasSuffix(m.Name, "_total"); counts != (m.Type == "counter") {
			t.Errorf("%s is a %s", m.Name, m.Type)
		}
		if m.Type == "histogram" && !strings.HasSuffix(m.Name, "_seconds") {
			t.Errorf("%s has no unit", m.Name)
		}
		for _, l := range m.Labels {
			labels[l] = true
		}
	}
	want := []string{"condition", "field_manager", "go_version", "kind", "operation", "reason", "result", "root", "state", "verdict", "version"}
	if got := slices.Sorted(maps.Keys(labels)); !slices.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
}

// TestNoOtherLeader: no metric of a library takes every replica for the leader.
func TestNoOtherLeader(t *testing.T) {
	again := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "leader_election_master_status"}, []string{"name"})
	if metrics.Registry.Unregister(again) {
		t.Error("it is registered")
	}
}

// TestTakers: the first field managers are named, the others are one.
func TestTakers(t *testing.T) {
	const k = Kind("takers.example.com")
	defer k.End()
	for i := range manyTakers + 5 {
		k.Corrected([]string{fmt.Sprint("m", i)})
	}
	k.Corrected([]string{"m0", "jacquard-0f1e"})
	k.Corrected(nil)
	got := map[string]float64{}
	for _, s := range series(t, "jacquard_drift_corrections_total", string(k)) {
		got[s.labels["field_manager"]] = s.value
	}
	want := map[string]float64{"m0": 2, "other": 5, "unknown": 1, "jacquard": 1}
	for i := 1; i < manyTakers; i++ {
		want[fmt.Sprint("m", i)] = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestEnd: nothing of a kind stays when it goes, and what is known of another
// does.
func TestEnd(t *testing.T) {
	const k, other = Kind("gone.example.com"), Kind("stays.example.com")
	defer other.End()
	for _, k := range []Kind{k, other} {
		k.Begin([]string{"forbidden"})
		k.Stands(Standing{}, Standing{Conditions: []string{"Ready"}, Problems: []string{"Contended"}})
		k.Pending(1)
		k.Corrected([]string{"kubectl"})
		k.Loads(false)
		k.Loaded(false)
		k.Elsewhere(true)
		k.SecondFolder(true)
		k.CRDDeleted(true)
		k.CRDMissing(true)
		Queues{}.NewDepthMetric(string(k)).Inc()
		Queues{}.NewLatencyMetric(string(k)).Observe(1)
	}
	Strangers(map[string]int{string(k): 1, string(other): 1})
	both := map[string]verdict.State{string(k): verdict.Serving, string(other): verdict.RolledBack}
	KindStates(nil, both)
	for _, m := range defined {
		if slices.Contains(m.Labels, "kind") && len(series(t, m.Name, string(k))) == 0 {
			t.Errorf("%s has no series: this test no longer tries it", m.Name)
		}
	}
	k.End()
	k.NoFolder()
	k.Elsewhere(false)
	k.SecondFolder(false)
	k.CRDDeleted(false)
	k.CRDMissing(false)
	Strangers(map[string]int{string(other): 1})
	KindStates(both, map[string]verdict.State{string(other): verdict.Serving})
	for _, m := range defined {
		if left := series(t, m.Name, string(k)); len(left) > 0 {
			t.Errorf("%s stays: %v", m.Name, left)
		}
		if slices.Contains(m.Labels, "kind") && len(series(t, m.Name, string(other))) == 0 {
			t.Errorf("%s of another kind is gone", m.Name)
		}
	}
}
