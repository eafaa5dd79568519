package health

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestReadyOfChangedResource: what the condition Ready said before a resource was changed
// is not what it is now, but says most about why it is not served.
func TestReadyOfChangedResource(t *testing.T) {
	ready := func(status, reason, message string, observed int64) Readiness {
		o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message, "observedGeneration": observed}}}}}
		o.SetGeneration(3)
		return ReadyOf(o)
	}
	for name, c := range map[string]struct{ got, want Readiness }{
		"of this generation":   {ready("False", "ChildFailed", "Job x failed", 3), Readiness{Status: "False", Reason: "ChildFailed", Message: "Job x failed"}},
		"it was not ready":     {ready("False", "ChildFailed", "Job x failed", 2), Readiness{"Unknown", "ChildFailed", "Job x failed (before its last change, which is not served yet)", true}},
		"it was ready":         {ready("True", "Ready", "", 2), Readiness{"Unknown", "Changed", "its last change is not served yet", true}},
		"it waited for a wave": {ready("Unknown", "RolloutPending", "wave 2", 1), Readiness{"Unknown", "RolloutPending", "wave 2 (before its last change, which is not served yet)", true}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}
