package status_test

import (
	"slices"
	"testing"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// asked is what kstatus says of a resource of this generation with a status of
// ours: what Flux, Helm 4 and others wait for.
func asked(t interface{ Fatal(...any) }, generation int64, s map[string]any) *kstatus.Result {
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "x", "generation": generation}, "status": s,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestKstatus: what the conditions mean to those who read them by kstatus.
func TestKstatus(t *testing.T) {
	tests := map[string]struct {
		in         status.Input
		generation int64
		want       kstatus.Status
	}{
		"ready":             {status.Input{Children: []status.Child{child("a", true, "")}}, 7, kstatus.CurrentStatus},
		"without children":  {status.Input{}, 7, kstatus.CurrentStatus},
		"a child not ready": {status.Input{Children: []status.Child{child("a", false, "x")}}, 7, kstatus.InProgressStatus},
		"waits":             {status.Input{Problems: []status.Problem{problem(status.Waiting, "R", "m")}}, 7, kstatus.InProgressStatus},
		"tries again":       {status.Input{Problems: []status.Problem{problem(status.Retry, "R", "m")}}, 7, kstatus.InProgressStatus},
		"stalled":           {status.Input{Problems: []status.Problem{problem(status.Stalled, "R", "m")}}, 7, kstatus.FailedStatus},
		"stalled and waits": {status.Input{Problems: []status.Problem{problem(status.Waiting, "R", "m"),
			problem(status.Stalled, "S", "n")}}, 7, kstatus.FailedStatus},
		"a child that failed":        {status.Input{Children: []status.Child{failedJob}}, 7, kstatus.FailedStatus},
		"status.yaml says not ready": {status.Input{Own: read(t, "conditions: [{type: Ready, status: 'False'}]")}, 7, kstatus.InProgressStatus},
		"paused":                     {status.Input{Paused: true, Live: wasReady(t)}, 7, kstatus.CurrentStatus},
		"made paused":                {status.Input{Paused: true}, 7, kstatus.InProgressStatus},
		"paused, a child not ready":  {status.Input{Paused: true, Children: []status.Child{child("a", false, "x")}}, 7, kstatus.InProgressStatus},
		"paused and stalled": {status.Input{Paused: true, Problems: []status.Problem{problem(status.Stalled, "R", "m")}}, 7,
			kstatus.FailedStatus},
		"changed since":              {status.Input{}, 8, kstatus.InProgressStatus},
		"stalled, and changed since": {status.Input{Problems: []status.Problem{problem(status.Stalled, "R", "m")}}, 8, kstatus.InProgressStatus},
	}
	for name, test := range tests {
		if got := asked(t, test.generation, mustMake(t, test.in).Status); got.Status != test.want {
			t.Errorf("%s: kstatus says %s, %s was expected (%s)", name, got.Status, test.want, got.Message)
		}
	}
	for name, test := range map[string]struct {
		status map[string]any
		want   kstatus.Status
	}{
		"no status":            {nil, kstatus.CurrentStatus}, // why CRDs should have the default below
		"the default of a CRD": {map[string]any{"observedGeneration": int64(-1)}, kstatus.InProgressStatus},
	} {
		if got := asked(t, 1, test.status); got.Status != test.want {
			t.Errorf("%s: kstatus says %s, %s was expected", name, got.Status, test.want)
		}
	}
}

// TestKstatusAgrees: whatever happened, kstatus calls exactly those current
// that are Ready, and exactly those failed that need a person.
func TestKstatusAgrees(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c"})
	children := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) status.Child {
		c := child(names.Draw(t, "name"), rapid.Bool().Draw(t, "ready"), "m")
		c.Failed = rapid.IntRange(0, 5).Draw(t, "failed") == 0
		return c
	}), 0, 4)
	problems := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) status.Problem {
		return problem(status.Severity(rapid.IntRange(0, 2).Draw(t, "severity")), "R"+names.Draw(t, "reason"), "m")
	}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		in := status.Input{Generation: 7, Children: children.Draw(t, "children"), Problems: problems.Draw(t, "problems"),
			Paused: rapid.Bool().Draw(t, "paused")}
		if rapid.Bool().Draw(t, "served before") {
			before, err := status.Make(status.Input{Generation: rapid.Int64Range(6, 7).Draw(t, "generation"), Children: children.Draw(t, "before")})
			if err != nil {
				t.Fatal(err)
			}
			in.Live = before.Status
		}
		if rapid.Bool().Draw(t, "own") {
			in.Own = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "Unknown"}}}
		}
		out, err := status.Make(in)
		if err != nil {
			t.Fatal(err)
		}
		person := slices.ContainsFunc(in.Problems, func(p status.Problem) bool { return p.Severity == status.Stalled }) ||
			slices.ContainsFunc(in.Children, func(c status.Child) bool { return c.Failed && !c.Ready })
		got := asked(t, 7, out.Status).Status
		if (got == kstatus.CurrentStatus) != out.Ready || (got == kstatus.FailedStatus) != person {
			t.Fatalf("kstatus says %s of %v", got, out.Status["conditions"])
		}
		if got := asked(t, 8, out.Status).Status; got != kstatus.InProgressStatus {
			t.Fatalf("a resource that was changed since is %s", got)
		}
	})
}
