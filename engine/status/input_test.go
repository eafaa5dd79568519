package status_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/jacquard-operator/jacquard/engine/status"
)

const (
	before = "2026-01-01T00:00:00Z"
	now    = "2026-02-03T04:05:06Z"
)

func read(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	js, err := yaml.YAMLToJSON([]byte("wrapped: " + strings.ReplaceAll("\n"+text, "\n", "\n  ")))
	if err != nil {
		t.Fatal(err)
	}
	u := map[string]any{}
	if err := yaml.Unmarshal(js, &u); err != nil {
		t.Fatal(err)
	}
	m, _ := whole(u["wrapped"]).(map[string]any)
	return m
}

// whole makes int64 of whole numbers, as a client decodes them.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

func child(name string, ready bool, message string) status.Child {
	return status.Child{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: name, Ready: ready, Message: message}
}

func problem(s status.Severity, reason, message string) status.Problem {
	return status.Problem{Severity: s, Reason: reason, Message: message}
}

var failedJob = status.Child{APIVersion: "batch/v1", Kind: "Job", Namespace: "default", Name: "load", Failed: true,
	Message: "failed (BackoffLimitExceeded)"}
