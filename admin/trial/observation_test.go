package trial

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/jacquard-operator/jacquard/admin/diff"
	"github.com/jacquard-operator/jacquard/author/catalog"
	"github.com/jacquard-operator/jacquard/engine/render"
)

// TestJudge: a case ends as soon as the resource is as it is wanted, and fails only once
// nothing shows that this is still to come.
func TestJudge(t *testing.T) {
	var (
		isTrue   = condition{isTrue: true, message: "it is so"}
		isFalse  = condition{message: "Deployment web: 0 of 1 is ready"}
		waiting  = []render.Waiting{{File: "page", Message: "no address yet"}}
		differs  = []string{"ConfigMap web: not as it is rendered"}
		notReady = []string{"Deployment web: 0 of 1 is ready"}
		plain    = map[string]string{catalog.FileWant: ""}
		waits    = map[string]string{catalog.FileWant: "", catalog.FileWantWaiting: "page.yaml waits: another text\n"}
		fails    = map[string]string{catalog.FileWantError: "no image\n"}
	)
	for name, c := range map[string]struct {
		wants map[string]string
		seen  observation
		state progress
		says  string
	}{
		"an earlier generation": {plain, observation{ready: isTrue}, changes, "no operator has reconciled the resource yet"},
		"ready":                 {plain, observation{isCurrent: true, ready: isTrue}, passed, ""},
		"not ready yet":         {plain, observation{isCurrent: true, ready: isFalse}, changes, "Ready is False: Deployment web: 0 of 1 is ready"},
		"a difference":          {plain, observation{isCurrent: true, ready: isTrue, differences: differs}, failsAtRest, "ConfigMap web: not as it is rendered"},
		"a difference meanwhile": {plain, observation{isCurrent: true, ready: isFalse, differences: differs}, changes,
			"Ready is False: Deployment web: 0 of 1 is ready\nConfigMap web: not as it is rendered"},
		"stalled": {plain, observation{isCurrent: true, ready: isFalse, stalled: isTrue, notes: []string{"another revision"}}, failsAtRest,
			"Stalled is True: it is so\nanother revision"},
		"does not render here":      {plain, observation{isCurrent: true, ready: isTrue, failure: "no image"}, failsAtRest, "no image"},
		"does not render any more":  {plain, observation{isCurrent: true, ready: isFalse, failure: "no image"}, changes, "no image"},
		"waits for its own child":   {plain, observation{isCurrent: true, waits: waiting, notReady: notReady}, changes, "page.yaml waits: no address yet"},
		"waits for something else":  {plain, observation{isCurrent: true, waits: waiting}, failsAtRest, "page.yaml waits: no address yet"},
		"may wait, and need not":    {waits, observation{isCurrent: true, ready: isTrue}, passed, ""},
		"may wait, and does":        {waits, observation{isCurrent: true, ready: isFalse, waits: waiting}, passed, ""},
		"may wait for its child":    {waits, observation{isCurrent: true, waits: waiting, notReady: notReady}, passesAtRest, notReady[0]},
		"may wait, and differs":     {waits, observation{isCurrent: true, waits: waiting, differences: differs}, failsAtRest, differs[0]},
		"may wait, and is ready":    {waits, observation{isCurrent: true, ready: isTrue, waits: waiting}, failsAtRest, "Ready is True although files wait"},
		"the wanted error":          {fails, observation{isCurrent: true, stalled: condition{true, "x.yaml:1:1: no image"}}, passed, ""},
		"an error with live values": {fails, observation{isCurrent: true, stalled: condition{true, "in ns-1 is none"}, failure: "in ns-1 is none"}, passed, ""},
		"another error":             {fails, observation{isCurrent: true, stalled: isTrue}, failsAtRest, "Stalled is True: it is so\nwanted is: no image"},
		"no error":                  {fails, observation{isCurrent: true, ready: isTrue}, failsAtRest, "Ready is True, and wanted is an error: no image"},
		"no error yet":              {fails, observation{isCurrent: true, ready: isFalse}, changes, "Ready is False: Deployment web: 0 of 1 is ready"},
	} {
		state, err := c.seen.judgeProgress(wantedOf(&catalog.Case{Wants: c.wants}))
		text := ""
		if err != nil {
			text = err.Error()
		}
		if state != c.state || text != c.says {
			t.Errorf("%s: got %d, %q; want %d, %q", name, state, text, c.state, c.says)
		}
	}
}

// TestRest: what may still change counts only once it stays as it is.
func TestRest(t *testing.T) {
	problem := errors.New("not ready")
	for state, want := range map[progress][2]error{
		changes: {problem, problem}, failsAtRest: {problem, finalError{problem}}, passesAtRest: {problem, nil}, passed: {nil, nil},
	} {
		var r rest
		for i := 1; i < restingObservations; i++ {
			if got := r.recordProgress("1", state, problem); !reflect.DeepEqual(got, want[0]) {
				t.Fatalf("state %d, observation %d: got %v, want %v", state, i, got, want[0])
			}
		}
		if got := r.recordProgress("1", state, problem); !reflect.DeepEqual(got, want[1]) {
			t.Errorf("state %d, at rest: got %v, want %v", state, got, want[1])
		}
		if got := r.recordProgress("2", state, problem); !reflect.DeepEqual(got, want[0]) {
			t.Errorf("state %d, after a change: got %v, want %v", state, got, want[0])
		}
	}
}

// TestDescribe: what differs is named with its place, and what does not is not.
func TestDescribe(t *testing.T) {
	for verb, want := range map[diff.Verb]string{
		diff.Created: "wanted, and not there (web.yaml:1:1)\n+x", diff.Changed: "not as it is rendered (web.yaml:1:1)\n+x",
		diff.Recreated: "not as it is rendered (web.yaml:1:1)\n+x", diff.Patched: "not as it is rendered (web.yaml:1:1)\n+x",
		diff.Pruned: "there, and not rendered (web.yaml:1:1)\n+x", diff.Released: "there, and not rendered (web.yaml:1:1)\n+x",
		diff.Refused: "the API server does not take it: a quota (web.yaml:1:1)\n+x", diff.Kept: "", diff.Blocked: "",
	} {
		got := describeDifference(&diff.Change{Verb: verb, Kind: "Web", Name: "a", Place: "web.yaml:1:1", Why: "a quota", Diff: "+x"})
		if got != strings.TrimSpace(got) || strings.TrimPrefix(got, "Web a: ") != want {
			t.Errorf("%s: got %q, want %q", verb, got, want)
		}
	}
	if got := describeDifference(&diff.Change{Verb: diff.Changed}); got != "" {
		t.Errorf("a change of the record alone: got %q", got)
	}
}
