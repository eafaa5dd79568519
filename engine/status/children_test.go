package status_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jacquard-operator/jacquard/engine/status"
)

func TestMakeChildren(t *testing.T) {
	out := mustMake(t, status.Input{Children: []status.Child{
		{APIVersion: "v1", Kind: "Service", Namespace: "b", Name: "x", Ready: true},
		{APIVersion: "v1", Kind: "Service", Namespace: "a", Name: "z", Ready: true},
		{APIVersion: "v1", Kind: "Namespace", Name: "n", Ready: true},
		{APIVersion: "v1", Kind: "Service", Namespace: "a", Name: "y", Message: "no address"},
	}})
	want := read(t, `
children:
- {apiVersion: v1, kind: Service, namespace: a, name: "y", ready: false, message: no address}
- {apiVersion: v1, kind: Namespace, name: "n", ready: true}
- {apiVersion: v1, kind: Service, namespace: a, name: z, ready: true}
- {apiVersion: v1, kind: Service, namespace: b, name: x, ready: true}
childrenReady: 3
childrenTotal: 4
observedGeneration: 7`)
	delete(out.Status, "conditions")
	if diff := cmp.Diff(want, out.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestMakeManyChildren(t *testing.T) {
	var children []status.Child
	for i := range 500 {
		children = append(children, child(fmt.Sprintf("c%03d", i), i != 400, strings.Repeat("é", 1000)))
	}
	out := mustMake(t, status.Input{Children: children})
	l := out.Status["children"].([]any)
	if len(l) != 100 || l[0].(map[string]any)["name"] != "c400" {
		t.Errorf("%d children, first %v", len(l), l[0])
	}
	if n := len(l[0].(map[string]any)["message"].(string)); n > 256 {
		t.Errorf("a child's message of %d bytes", n)
	}
	if out.Status["childrenReady"] != int64(499) || out.Status["childrenTotal"] != int64(500) {
		t.Errorf("counts: %v of %v", out.Status["childrenReady"], out.Status["childrenTotal"])
	}
}

func TestMakeLongMessages(t *testing.T) {
	var problems []status.Problem
	for i := range 116 {
		problems = append(problems, problem(status.Stalled, "R", fmt.Sprintf("%03d", i)+strings.Repeat("ü", 45)))
	}
	out := mustMake(t, status.Input{Problems: problems})
	if n := len(out.Message); n > 8192 || n < 8000 {
		t.Errorf("a message of %d bytes", n)
	}
	if !strings.HasPrefix(out.Message, "000ü") || !strings.HasSuffix(out.Message, "; and 30 more") {
		t.Errorf("message: %s", out.Message)
	}
	out = mustMake(t, status.Input{Problems: []status.Problem{problem(status.Retry, "R", strings.Repeat("ü", 9000))}})
	if n := len(out.Message); n > 8192 || !strings.HasSuffix(out.Message, "ü…") {
		t.Errorf("a message of %d bytes", n)
	}
	for _, line := range out.Changed {
		if len(line) > 1024 {
			t.Errorf("a change of %d bytes", len(line))
		}
	}
}

func TestMakeKeepsOwnWhenItCannotBeRendered(t *testing.T) {
	live := read(t, `
url: http://x
children: [{name: old}]
childrenReady: 1
conditions:
- {type: Ready, status: "True", reason: Ready, message: "", observedGeneration: 6, lastTransitionTime: "`+before+`"}
- {type: Stalled, status: "True", reason: X, message: "", observedGeneration: 6, lastTransitionTime: "`+before+`"}
- {type: Backup, status: "True", reason: R, message: m, observedGeneration: 6, lastTransitionTime: "`+before+`"}`)
	out := mustMake(t, status.Input{Live: live, Problems: []status.Problem{problem(status.Retry, "A", "b")}})
	want := read(t, `
url: http://x
childrenReady: 0
childrenTotal: 0
observedGeneration: 7
conditions:
- {type: Ready, status: "False", reason: A, message: b, observedGeneration: 7, lastTransitionTime: "`+now+`"}
- {type: Backup, status: "True", reason: R, message: m, observedGeneration: 6, lastTransitionTime: "`+before+`"}
- {type: Reconciling, status: "True", reason: A, message: b, observedGeneration: 7, lastTransitionTime: "`+now+`"}`)
	if diff := cmp.Diff(want, out.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestMakeRefuses(t *testing.T) {
	tests := map[string]string{
		"children: []":                                                                 "reading status.yaml: children is set by the engine",
		"observedGeneration: 1":                                                        "reading status.yaml: observedGeneration is set by the engine",
		"childrenReady: 1":                                                             "reading status.yaml: childrenReady is set by the engine",
		"childrenTotal: 1":                                                             "reading status.yaml: childrenTotal is set by the engine",
		"conditions: x":                                                                "reading status.yaml: conditions is not a list",
		"conditions: [x]":                                                              "reading status.yaml: conditions[0]: not a map",
		"conditions: [{status: 'True'}]":                                               "reading status.yaml: conditions[0]: it has no type",
		"conditions: [{type: A, status: yes}]":                                         "reading status.yaml: conditions[0]: status is not a string",
		"conditions: [{type: A, status: 'yes'}]":                                       "reading status.yaml: conditions[0]: type A: status is not True, False or Unknown",
		"conditions: [{type: Ready, status: 'True'}]":                                  "reading status.yaml: conditions[0]: type Ready: only the operator sets True",
		"conditions: [{type: Stalled, status: 'True'}]":                                "reading status.yaml: conditions[0]: type Stalled is set by the engine",
		"conditions: [{type: Reconciling, status: 'False'}]":                           "reading status.yaml: conditions[0]: type Reconciling is set by the engine",
		"conditions: [{type: Paused, status: 'False'}]":                                "reading status.yaml: conditions[0]: type Paused is set by the engine",
		"conditions: [{type: A, status: 'True', message: 1}]":                          "reading status.yaml: conditions[0]: message is not a string",
		"conditions: [{type: A, status: 'True', lastTransitionTime: x}]":               "reading status.yaml: conditions[0]: type A: lastTransitionTime is not an RFC 3339 time",
		"conditions: [{type: A, status: 'True'}, {type: A, status: 'True'}]":           "reading status.yaml: conditions[1]: type A occurs twice",
		"conditions: [{type: Ready, status: 'False'}, {type: Ready, status: 'False'}]": "reading status.yaml: conditions[1]: type Ready occurs twice",
	}
	for own, want := range tests {
		_, err := status.Make(status.Input{Own: read(t, own)})
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", own, err, want)
		}
	}
}
