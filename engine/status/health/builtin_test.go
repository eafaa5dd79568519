package health

import (
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// A builtInCase is an object of testdata/builtin.yaml.
type builtInCase struct {
	// Entry is the entry that decides, and State what it finds.
	Entry, State string
	// Message is what the result says; "": it is not compared.
	Message string
	// Source is where the status is published; MadeUp: nowhere.
	Source string
	MadeUp bool
	Object map[string]any
}

// TestBuiltIn: each entry tells each of its states, and what a new object is, from
// statuses that its project publishes.
func TestBuiltIn(t *testing.T) {
	text, err := os.ReadFile("testdata/builtin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []builtInCase
	if err := utilyaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	seen, madeUp := map[string]map[string]bool{}, 0
	for _, c := range cases {
		kind, _ := c.Object["kind"].(string)
		gv, err := schema.ParseGroupVersion(c.Object["apiVersion"].(string))
		if err != nil {
			t.Fatal(err)
		}
		rule := BuiltIn().Find(gv.WithKind(kind).GroupKind())
		if rule == nil || rule.String() != c.Entry {
			t.Errorf("%s %s: decided by %v, want %s", gv, kind, rule, c.Entry)
			continue
		}
		got := rule.Evaluate(c.Object)
		if got.State.String() != c.State || c.Message != "" && got.Message != c.Message {
			t.Errorf("%s from %s: %s (%s), want %s %s", c.Entry, c.Source, got.State, got.Message, c.State, c.Message)
		}
		if strings.Contains(got.Message, "cannot be evaluated") {
			t.Errorf("%s from %s: %s", c.Entry, c.Source, got.Message)
		}
		if seen[c.Entry] == nil {
			seen[c.Entry] = map[string]bool{}
		}
		seen[c.Entry][c.State] = true
		if status, _ := c.Object["status"].(map[string]any); len(status) == 0 {
			seen[c.Entry]["new"] = true
		}
		if c.Source == "" && !c.MadeUp {
			t.Errorf("%s: it is not known where the status is from", c.Entry)
		}
		if c.MadeUp {
			madeUp++
		}
	}
	checkCovered(t, seen)
	if 5*madeUp > len(cases) {
		t.Errorf("%d of %d statuses are made up", madeUp, len(cases))
	}
}

// checkCovered fails for entries without a status for a new object, or for a state.
func checkCovered(t *testing.T, seen map[string]map[string]bool) {
	t.Helper()
	for _, rule := range BuiltIn() {
		states := []string{"new", "current"}
		if !rule.existenceSuffices || rule.inProgress != nil {
			states = append(states, "in progress")
		}
		if rule.failed != nil {
			states = append(states, "failed")
		}
		for _, state := range states {
			if !seen[rule.String()][state] {
				t.Errorf("%s: no status for %s", rule, state)
			}
		}
	}
}

// TestBuiltInCompiles: the program does not start with a list that is wrong.
func TestBuiltInCompiles(t *testing.T) {
	list, err := readBuiltIn(builtInText)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range list {
		if len(rule.EmptyAlls()) > 0 {
			t.Errorf("%s: filter(…).all(…) is true for an empty list", rule)
		}
	}
	if _, err := readBuiltIn([]byte("healthCheckExprs: [{apiVersion: a/v1, currents: 'true'}]")); err == nil {
		t.Error("an unknown field is taken")
	}
	if _, err := readBuiltIn([]byte("healthCheckExprs: [{apiVersion: a/v1, current: 'true &&'}]")); err == nil {
		t.Error("a wrong expression is taken")
	}
}
