package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOnly: what lives is compared with what is desired by the fields that are desired;
// items of a list that nobody desires are told.
func TestOnly(t *testing.T) {
	live := map[string]any{
		"spec": map[string]any{
			"clusterIP": "10.0.0.1",
			"type":      "ClusterIP",
			"ports":     []any{map[string]any{"port": int64(8080), "protocol": "TCP"}, map[string]any{"port": int64(9090)}},
			"selector":  "not a map",
		},
		"status": map[string]any{},
	}
	desired := map[string]any{
		"spec": map[string]any{
			"type":     "ClusterIP",
			"ports":    []any{map[string]any{"port": int64(80)}},
			"selector": map[string]any{"app": "a"},
			"names":    []any{"a"},
		},
	}
	want := map[string]any{
		"spec": map[string]any{
			"type":     "ClusterIP",
			"ports":    []any{map[string]any{"port": int64(8080)}, map[string]any{"port": int64(9090)}},
			"selector": "not a map",
		},
	}
	if diff := cmp.Diff(want, selectDesired(live, desired)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := selectDesired(nil, desired); got != nil {
		t.Errorf("what is not there has %v", got)
	}
}
