package controller

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/controller/heartbeat"
	"github.com/jacquard-operator/jacquard/engine/controller/kinds"
	"github.com/jacquard-operator/jacquard/engine/controller/rollout"
	"github.com/jacquard-operator/jacquard/engine/verdict"
)

// TestPausedByCRD: a kind counts as paused only if a person paused it, not because the whole
// operator is read-only.
func TestPausedByCRD(t *testing.T) {
	const name = "paused.example.com"
	for what, c := range map[string]struct {
		isReadOnly, isPausedByCRD bool
		annotation                string
	}{
		"serving":   {},
		"read-only": {isReadOnly: true},
		"paused":    {annotation: "true", isPausedByCRD: true},
		"both":      {isReadOnly: true, annotation: "true", isPausedByCRD: true},
	} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Annotations = map[string]string{api.AnnotationPaused: c.annotation}
		o := assembleParts(&process{options: Options{ReadOnly: c.isReadOnly}})
		o.kinds[name] = &kindState{crd: crd}
		o.exportPaused(name)
		got := samplesOf(t, "jacquard_kind_paused", name)
		if len(got) != 1 || (got[0].value == 1) != c.isPausedByCRD {
			t.Errorf("%s: the metric is %v", what, got)
		}
		if got := o.isPaused(name); got != (c.isReadOnly || c.isPausedByCRD) {
			t.Errorf("%s: it is only looked at: %v", what, got)
		}
	}
}

// TestStatesOfLeader: the metric of a kind's state is that of the replica that leads, and one
// that leads no more, when a kind was rolled back, does not go on to have it: it would not
// notice the end of that.
func TestStatesOfLeader(t *testing.T) {
	const name = "followed.example.com"
	r := assembleParts(&process{}).report
	r.showStates([]heartbeat.Kind{{Name: name, State: verdict.RolledBack}})
	if got := samplesOf(t, "jacquard_kind_state", name); len(got) != 1 || !slices.Equal(got[0].labels, []string{"RolledBack", "Unhealthy"}) {
		t.Errorf("as the leader it has %v", got)
	}
	r.showStates(nil)
	if got := samplesOf(t, "jacquard_kind_state", name); got != nil {
		t.Errorf("as a follower it has %v", got)
	}
}

// A sample is a value of a metric, and its labels after that of the kind.
type sample struct {
	labels []string
	value  float64
}

// samplesOf are those of a kind.
func samplesOf(t *testing.T, name, kind string) (all []sample) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != name || m.GetLabel()[0].GetValue() != kind {
				continue
			}
			one := sample{value: m.GetGauge().GetValue()}
			for _, label := range m.GetLabel()[1:] {
				one.labels = append(one.labels, label.GetValue())
			}
			all = append(all, one)
		}
	}
	return all
}

// TestFollowerForgetsRollback: a replica that led when a kind was rolled back, and leads no
// more, does not report it as rolled back once it leads again, unless it is.
func TestFollowerForgetsRollback(t *testing.T) {
	const name = "followed.example.com"
	o := assembleParts(&process{})
	o.kinds[name] = &kindState{report: kindReport{rollback: rollbackReport{state: verdict.RolledBack}}}
	p := &kindPass{o: o.manager, name: name, in: kinds.Inputs{Role: kinds.Follower, Folder: kinds.Folder{Present: true, Digest: "1"}}}
	for _, tt := range []struct {
		role kinds.Role
		want verdict.State
	}{{kinds.Leader, verdict.RolledBack}, {kinds.Follower, ""}} {
		p.in.Role = tt.role
		o.reporter.reportDesired(t.Context(), p, kinds.Desired{Mode: kinds.Serve, Reason: kinds.RolledBack, Rollback: rollout.Rollback{To: "0"}})
		if got := o.readState(name).report.rollback.state; got != tt.want {
			t.Errorf("as %v it is %q, want %q", tt.role, got, tt.want)
		}
	}
}
