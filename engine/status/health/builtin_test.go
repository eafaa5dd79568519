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

// TestApplicationFollowsItsSource checks that an Application is ready only once Argo CD has
// compared the cluster with the source that its spec has now. Argo CD leaves empty fields
// out of what it reports.
func TestApplicationFollowsItsSource(t *testing.T) {
	const one, other = "repoURL: https://example.com/a, targetRevision: v1", "repoURL: https://example.com/a, targetRevision: v2"
	for name, c := range map[string]struct {
		spec, compared string
		want           State
	}{
		"the same":                {"source: {" + one + "}", "source: {" + one + "}", Current},
		"another revision":        {"source: {" + one + "}", "source: {" + other + "}", InProgress},
		"empty fields":            {"source: {" + one + ", path: '', chart: '', helm: {values: '', parameters: []}}", "source: {" + one + "}", Current},
		"parameters":              {"source: {" + one + ", helm: {parameters: [{name: a, value: '', forceString: false}]}}", "source: {" + one + ", helm: {parameters: [{name: a}]}}", Current},
		"other parameters":        {"source: {" + one + ", helm: {parameters: [{name: a, value: b}]}}", "source: {" + one + ", helm: {parameters: [{name: a, value: c}]}}", InProgress},
		"values":                  {"source: {" + one + ", helm: {values: 'a: 1'}}", "source: {" + one + "}", InProgress},
		"values as an object":     {"source: {" + one + ", helm: {valuesObject: {a: 1}}}", "source: {" + one + ", helm: {valuesObject: {a: 2}}}", InProgress},
		"several":                 {"sources: [{" + one + "}, {" + other + "}]", "sources: [{" + one + "}, {" + other + "}]", Current},
		"several, one is another": {"sources: [{" + one + "}, {" + one + "}]", "sources: [{" + one + "}, {" + other + "}]", InProgress},
		"several, one is new":     {"sources: [{" + one + "}, {" + other + "}]", "sources: [{" + one + "}]", InProgress},
		"several, with values":    {"sources: [{" + one + ", helm: {valuesObject: {a: 1}}}]", "sources: [{" + one + ", helm: {valuesObject: {a: 2}}}]", InProgress},
		"several, empty fields":   {"sources: [{" + one + ", path: '', helm: {parameters: []}}]", "sources: [{" + one + "}]", Current},
		"one, then a list of it":  {"sources: [{" + one + "}]", "source: {" + one + "}", Current},
		"several before one":      {"source: {" + one + "}, sources: [{" + other + "}]", "source: {repoURL: ''}, sources: [{" + other + "}]", Current},
		"a list of one, then it":  {"source: {" + one + "}", "sources: [{" + one + "}]", Current},
		"another, then several":   {"sources: [{" + one + "}]", "source: {" + other + "}", InProgress},
	} {
		t.Run(name, func(t *testing.T) {
			var obj map[string]any
			text := "{spec: {" + c.spec + "}, status: {health: {status: Healthy}, sync: {status: Synced, comparedTo: {" + c.compared + "}}}}"
			if err := utilyaml.Unmarshal([]byte(text), &obj); err != nil {
				t.Fatal(err)
			}
			rule := BuiltIn().Find(schema.GroupKind{Group: "argoproj.io", Kind: "Application"})
			if got := rule.Evaluate(obj); got.State != c.want || got.State == InProgress && got.Message != "sync Synced, health Healthy" {
				t.Errorf("%s (%s), want %s", got.State, got.Message, c.want)
			}
		})
	}
}

// TestBuiltInAffordsLargeObjects checks that the largest objects that their APIs allow do
// not exceed the limit of cost.
func TestBuiltInAffordsLargeObjects(t *testing.T) {
	conditions := func(status string, types ...string) (all []any) {
		for _, name := range types {
			all = append(all, map[string]any{"type": name, "status": status, "reason": "SomeReason", "message": strings.Repeat("m", 200), "observedGeneration": int64(3)})
		}
		return all
	}
	repeated := func(n int, item map[string]any) (all []any) {
		for range n {
			all = append(all, item)
		}
		return all
	}
	source := map[string]any{"repoURL": "https://example.com/charts", "chart": "web", "helm": map[string]any{"parameters": repeated(50, map[string]any{"name": "a", "value": "b"}),
		"valuesObject": map[string]any{"list": repeated(500, map[string]any{"name": "a", "value": "b"})}}}
	for _, c := range []struct {
		apiVersion, kind string
		spec, status     map[string]any
	}{
		{"gateway.networking.k8s.io/v1", "Gateway", nil, map[string]any{"conditions": conditions("False", "Programmed", "Other"),
			"listeners": repeated(64, map[string]any{"name": "l", "conditions": conditions("True", "Accepted", "ResolvedRefs", "Programmed", "Conflicted")})}},
		{"gateway.networking.k8s.io/v1", "HTTPRoute", nil, map[string]any{
			"parents": repeated(32, map[string]any{"conditions": conditions("True", "Other", "Another", "ResolvedRefs", "Accepted")})}},
		{"argoproj.io/v1alpha1", "Application", map[string]any{"sources": repeated(20, source)}, map[string]any{"health": map[string]any{"status": "Healthy"},
			"sync": map[string]any{"status": "Synced", "comparedTo": map[string]any{"sources": repeated(20, source)}}}},
		{"s3.services.k8s.aws/v1", "Bucket", nil, map[string]any{"conditions": conditions("False", strings.Split(strings.Repeat("Other,", 40)+"Ready", ",")...)}},
	} {
		rule := BuiltIn().Find(schema.FromAPIVersionAndKind(c.apiVersion, c.kind).GroupKind())
		got := rule.Evaluate(map[string]any{"metadata": map[string]any{"generation": int64(3)}, "spec": c.spec, "status": c.status})
		if strings.Contains(got.Message, "cannot be evaluated") {
			t.Errorf("%s: %s", rule, got.Message)
		}
	}
}
