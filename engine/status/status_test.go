package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/jacquard-operator/jacquard/engine/status"
)

func TestMakeConditions(t *testing.T) {
	tests := map[string]struct {
		in   status.Input
		want string // type=status/reason: message, one per line
		kind kstatus.Status
	}{
		"nothing to do": {status.Input{}, "Ready=True/Ready: nothing to wait for", kstatus.CurrentStatus},
		"all ready": {
			status.Input{Children: []status.Child{child("a", true, ""), child("b", true, "")}},
			"Ready=True/Ready: 2 children are ready", kstatus.CurrentStatus,
		},
		"one child not ready": {
			status.Input{Children: []status.Child{child("web", false, "2 of 3 replicas are ready"), child("b", true, "")}},
			"Ready=False/ChildrenNotReady: Deployment web: 2 of 3 replicas are ready\nReconciling=True/ChildrenNotReady: Deployment web: 2 of 3 replicas are ready",
			kstatus.InProgressStatus,
		},
		"three children not ready": {
			status.Input{Children: []status.Child{child("c", false, "x"), child("web", true, ""), child("b", false, "y"), child("a", false, "")}},
			"Ready=False/ChildrenNotReady: Deployment a: not ready; and 2 more\nReconciling=True/ChildrenNotReady: Deployment a: not ready; and 2 more",
			kstatus.InProgressStatus,
		},
		"a failed child": {
			status.Input{Children: []status.Child{child("a", false, ""), failedJob}},
			"Ready=False/ChildFailed: Job load: failed (BackoffLimitExceeded)\nStalled=True/ChildFailed: Job load: failed (BackoffLimitExceeded)",
			kstatus.FailedStatus,
		},
		"problems of every kind": {
			status.Input{Children: []status.Child{failedJob}, Problems: []status.Problem{
				problem(status.Retry, "Forbidden", "r"), problem(status.Waiting, "NotYet", "w"),
				problem(status.Stalled, "Template", "z"), problem(status.Stalled, "Template", "a"), problem(status.Stalled, "Template", "a"),
			}},
			"Ready=False/Template: a; z; Job load: failed (BackoffLimitExceeded); w; r\nStalled=True/Template: a; z; Job load: failed (BackoffLimitExceeded); w; r",
			kstatus.FailedStatus,
		},
		"the newest of the worst first": {
			status.Input{Problems: []status.Problem{
				{Severity: status.Stalled, Reason: "Invalid", Message: "a: old", Since: 3}, {Severity: status.Stalled, Reason: "RejectedByTemplate",
					Message: "b: new", Since: 7}, {Severity: status.Retry, Reason: "Forbidden", Message: "c", Since: 9},
			}},
			"Ready=False/RejectedByTemplate: b: new; a: old; c\nStalled=True/RejectedByTemplate: b: new; a: old; c", kstatus.FailedStatus,
		},
		"waiting before retry, and before children": {
			status.Input{Children: []status.Child{child("a", false, "")}, Problems: []status.Problem{
				problem(status.Retry, "A", "r"), problem(status.Waiting, "B", "w"),
			}},
			"Ready=False/B: w; r\nReconciling=True/B: w; r", kstatus.InProgressStatus,
		},
		"retry": {
			status.Input{Problems: []status.Problem{problem(status.Retry, "ApplyFailed", "r")}},
			"Ready=False/ApplyFailed: r\nReconciling=True/ApplyFailed: r", kstatus.InProgressStatus,
		},
		"paused": {
			status.Input{Paused: true, Live: wasReady(t)},
			"Ready=True/Ready: nothing to wait for\nPaused=True/Paused: nothing is applied or deleted while paused", kstatus.CurrentStatus,
		},
		"own Ready Unknown": {
			status.Input{Own: map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "Unknown", "reason": "Asking",
				"message": "m"}}}},
			"Ready=False/Asking: m", kstatus.InProgressStatus,
		},
		"own Ready without reason": {
			status.Input{Own: map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}}}},
			"Ready=False/StatusNotReady: ", kstatus.InProgressStatus,
		},
		"own Ready after children": {
			status.Input{
				Own:      map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False"}}},
				Children: []status.Child{child("a", false, "x")},
			},
			"Ready=False/ChildrenNotReady: Deployment a: x\nReconciling=True/ChildrenNotReady: Deployment a: x", kstatus.InProgressStatus,
		},
		"own types, sorted": {
			status.Input{Own: map[string]any{"conditions": []any{
				map[string]any{"type": "Zonal", "status": "True", "reason": "R", "message": "m"}, map[string]any{"type": "Backup", "status": "False"},
			}}},
			"Ready=True/Ready: nothing to wait for\nBackup=False/Backup: \nZonal=True/R: m", kstatus.CurrentStatus,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out := mustMake(t, test.in)
			var got []string
			for _, c := range out.Status["conditions"].([]any) {
				c := c.(map[string]any)
				got = append(got, fmt.Sprintf("%s=%s/%s: %s", c["type"], c["status"], c["reason"], c["message"]))
				if c["observedGeneration"] != int64(7) || c["lastTransitionTime"] != now {
					t.Errorf("condition %v lacks its generation or time", c)
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if out.Status["observedGeneration"] != int64(7) {
				t.Errorf("observedGeneration: got %v", out.Status["observedGeneration"])
			}
			if ready := strings.HasPrefix(test.want, "Ready=True"); out.Ready != ready ||
				got[0] != fmt.Sprintf("Ready=%s/%s: %s", map[bool]string{true: "True", false: "False"}[ready], out.Reason, out.Message) {
				t.Errorf("Output says %v, %s, %s", out.Ready, out.Reason, out.Message)
			}
			if kind := compute(t, out.Status); kind != test.kind {
				t.Errorf("kstatus: got %s, want %s", kind, test.kind)
			}
		})
	}
}

// mustMake makes a status of generation 7, and checks that its input stays as
// it is and that it is what JSON can hold.
func mustMake(t *testing.T, in status.Input) status.Output {
	t.Helper()
	in.Generation = 7
	at, _ := time.Parse(time.RFC3339, now)
	in.Now = metav1.NewTime(at)
	if in.Own == nil && in.Live == nil {
		in.Own = map[string]any{}
	}
	own, live := runtime.DeepCopyJSON(in.Own), runtime.DeepCopyJSON(in.Live)
	problems, children := slices.Clone(in.Problems), slices.Clone(in.Children)
	out, err := status.Make(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{own, live, problems, children}, []any{in.Own, in.Live, in.Problems, in.Children}); diff != "" {
		t.Errorf("Make changed its input:\n%s", diff)
	}
	if diff := cmp.Diff(runtime.DeepCopyJSON(out.Status), out.Status); diff != "" {
		t.Errorf("not JSON:\n%s", diff)
	}
	return out
}

func compute(t *testing.T, st map[string]any) kstatus.Status {
	t.Helper()
	res, err := kstatus.Compute(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "App", "metadata": map[string]any{"name": "x", "generation": int64(7)}, "status": st,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Status
}

func TestMakeTransitions(t *testing.T) {
	live := read(t, `
conditions:
- {type: Ready, status: "False", reason: ChildrenNotReady, lastTransitionTime: "`+before+`"}
- {type: Reconciling, status: "True", reason: ChildrenNotReady, lastTransitionTime: "`+before+`"}
- {type: Backup, status: "True", reason: R, lastTransitionTime: "`+before+`"}
- {type: Broken, status: "True", reason: Broken, lastTransitionTime: soon}
- {type: Foreign, status: "True", reason: F, lastTransitionTime: "`+before+`"}`)
	own := read(t, `
conditions:
- {type: Backup, status: "False", reason: R}
- {type: Broken, status: "True"}
- {type: Given, status: "True", lastTransitionTime: "`+before+`", observedGeneration: 3}`)

	tests := map[string]struct {
		children  []status.Child
		problems  []status.Problem
		wantTimes map[string]string
		changed   []string
	}{
		"still not ready": {
			[]status.Child{child("a", false, "x")}, nil,
			map[string]string{"Ready": before, "Reconciling": before, "Backup": now, "Broken": now, "Given": before},
			[]string{"Backup is False (R)", "Given is True (Given)"},
		},
		"ready": {
			nil, nil, map[string]string{"Ready": now, "Backup": now, "Broken": now, "Given": before},
			[]string{"Ready is True (Ready): nothing to wait for", "Backup is False (R)", "Given is True (Given)",
				"Reconciling is over (ChildrenNotReady)"},
		},
		"another reason": {
			nil, []status.Problem{problem(status.Stalled, "BadTemplate", "web.yaml:3:1")},
			map[string]string{"Ready": before, "Stalled": now, "Backup": now, "Broken": now, "Given": before},
			[]string{
				"Ready is False (BadTemplate): web.yaml:3:1", "Backup is False (R)", "Given is True (Given)",
				"Stalled is True (BadTemplate): web.yaml:3:1", "Reconciling is over (ChildrenNotReady)",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out := mustMake(t, status.Input{Live: live, Own: own, Children: test.children, Problems: test.problems})
			times := map[string]string{}
			for _, c := range out.Status["conditions"].([]any) {
				c := c.(map[string]any)
				times[c["type"].(string)] = c["lastTransitionTime"].(string)
			}
			if diff := cmp.Diff(test.wantTimes, times); diff != "" {
				t.Errorf("times (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.changed, out.Changed); diff != "" {
				t.Errorf("Changed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOrdinary: the way to Ready is ordinary; trouble, its end, and what changes of
// a resource that was ready and is, are not.
func TestOrdinary(t *testing.T) {
	const (
		none    = "{}"
		waits   = `conditions: [{type: Ready, status: "False", reason: ChildrenNotReady}, {type: Reconciling, status: "True", reason: ChildrenNotReady}]`
		ready   = `conditions: [{type: Ready, status: "True", reason: Ready}]`
		settled = `conditions: [{type: Ready, status: "True", reason: Ready, observedGeneration: 7}]`
		older   = `conditions: [{type: Ready, status: "True", reason: Ready, observedGeneration: 6}]`
		backup  = `conditions: [{type: Ready, status: "True", reason: Ready}, {type: Backup, status: "True", reason: R}]`
		stalled = `conditions: [{type: Ready, status: "False", reason: Invalid}, {type: Stalled, status: "True", reason: Invalid}]`
		paused  = `conditions: [{type: Ready, status: "True", reason: Ready}, {type: Paused, status: "True", reason: Paused}]`
	)
	starts := []status.Child{child("a", false, "x")}
	own := read(t, `conditions: [{type: Backup, status: "False", reason: R}]`)
	for name, test := range map[string]struct {
		live string
		in   status.Input
		want bool
	}{
		"made and ready":             {none, status.Input{}, true},
		"made":                       {none, status.Input{Children: starts}, true},
		"ready":                      {waits, status.Input{}, true},
		"changed, and its children":  {ready, status.Input{Children: starts}, true},
		"waits for another file":     {ready, status.Input{Problems: []status.Problem{problem(status.Waiting, "Waiting", "b")}}, true},
		"its own, on the way":        {waits, status.Input{Own: own, Children: starts}, true},
		"its own, and made":          {none, status.Input{Own: own}, true},
		"its own, while it is ready": {backup, status.Input{Own: own}, false},
		"trouble":                    {waits, status.Input{Problems: []status.Problem{problem(status.Stalled, "Invalid", "b")}}, false},
		"trouble that may end":       {ready, status.Input{Problems: []status.Problem{problem(status.Retry, "Forbidden", "b")}}, false},
		"a child failed":             {waits, status.Input{Children: []status.Child{failedJob}}, false},
		"not ready any more":         {settled, status.Input{Children: starts}, false},
		"not ready, since changed":   {older, status.Input{Children: starts}, true},
		"no trouble any more":        {stalled, status.Input{}, false},
		"paused":                     {ready, status.Input{Paused: true}, false},
		"not paused any more":        {paused, status.Input{}, false},
		"an annotation is misspelt":  {ready, status.Input{Ignored: []string{"x"}}, false},
	} {
		test.in.Live = read(t, test.live)
		if got := mustMake(t, test.in).Ordinary; got != test.want {
			t.Errorf("%s: ordinary is %v", name, got)
		}
	}
}

func TestMakeIsStable(t *testing.T) {
	in := status.Input{
		Own:      map[string]any{"url": "http://x", "conditions": []any{map[string]any{"type": "Backup", "status": "True"}}},
		Children: []status.Child{child("a", false, "x"), failedJob}, Problems: []status.Problem{problem(status.Retry, "A", "b")},
	}
	first := mustMake(t, in)
	in.Live = first.Status
	slices.Reverse(in.Children)
	second := mustMake(t, in)
	if diff := cmp.Diff(first.Status, second.Status); diff != "" {
		t.Errorf("the second status differs:\n%s", diff)
	}
	if second.Changed != nil {
		t.Errorf("Changed: got %q, want none", second.Changed)
	}
	if !status.Same(second.Status, first.Status) {
		t.Error("Same says that they differ")
	}
}

func TestSame(t *testing.T) {
	const ready = `conditions: [{type: Ready, status: "True", reason: Ready, lastTransitionTime: "` + before + `"}`
	tests := map[string]struct {
		desired, live string
		want          bool
	}{
		"equal":                 {"a: {b: [1, x, null]}", "a: {b: [1, x, null]}", true},
		"more in live":          {"a: {b: 1}", "{a: {b: 1, c: 2}, d: 3}", true},
		"less in live":          {"{a: 1, b: 2}", "a: 1", false},
		"no live":               {"a: 1", "", false},
		"nothing":               {"", "", true},
		"another value":         {"a: 1", "a: 2", false},
		"another type":          {"a: 1", "a: '1'", false},
		"a map for a scalar":    {"a: x", "a: {}", false},
		"a scalar for a map":    {"a: {}", "a: x", false},
		"numbers":               {"a: 0.5", "a: 0.5", true},
		"a longer list":         {"a: [1]", "a: [1, 2]", false},
		"another order":         {"a: [1, 2]", "a: [2, 1]", false},
		"more in a list's item": {"a: [{b: 1}]", "a: [{b: 1, c: 2}]", false},
		"conditions in another order, and a foreign one": {
			ready + ", {type: A, status: 'True'}]",
			"conditions: [{type: F, status: 'True'}, {type: A, status: 'True'}, {type: Ready, status: 'True', reason: Ready}]", true,
		},
		"another time":                    {ready + "]", strings.ReplaceAll(ready, before, now) + "]", true},
		"another status":                  {ready + "]", "conditions: [{type: Ready, status: 'False', reason: Ready}]", false},
		"another reason":                  {ready + "]", "conditions: [{type: Ready, status: 'True', reason: X}]", false},
		"a condition missing":             {ready + "]", "conditions: []", false},
		"a condition that is over":        {ready + "]", ready + ", {type: Stalled, status: 'True'}]", false},
		"children that are there no more": {ready + "]", ready + "]\nchildren: [{name: x}]", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := status.Same(read(t, test.desired), read(t, test.live)); got != test.want {
				t.Errorf("Same: got %v, want %v", got, test.want)
			}
		})
	}
	if !status.Same(map[string]any{"a": int64(1)}, map[string]any{"a": 1.0}) {
		t.Error("1 and 1.0 differ")
	}
	if status.Same(map[string]any{"a": int64(1<<53 + 1)}, map[string]any{"a": int64(1 << 53)}) {
		t.Error("big numbers are compared as floats")
	}
}

// TestMakeRefused: what a newer version says is in a condition of its own; Ready
// speaks of the version that serves the resource.
func TestMakeRefused(t *testing.T) {
	out := mustMake(t, status.Input{Own: map[string]any{}, Refused: "no such field"})
	if pending := status.Condition(map[string]any{"status": out.Status}, "RolloutPending"); !out.Ready || pending["status"] != "True" ||
		pending["reason"] != "PreviewFailed" || pending["message"] != "no such field" {
		t.Errorf("%v", out.Status)
	}
	live := out.Status
	if out = mustMake(t, status.Input{Live: live}); status.Condition(map[string]any{"status": out.Status}, "RolloutPending") != nil {
		t.Errorf("it stays when it is over: %v", out.Status)
	}
}
