package observe

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/status"
)

// TestIgnoredAnnotations: an annotation of ours that does nothing on a resource
// is told in a condition, and so as an event; all others are not.
func TestIgnoredAnnotations(t *testing.T) {
	for key, c := range map[string]struct{ value, want string }{
		"jacquard.dev/pasued":       {"true", "jacquard.dev/pasued is no annotation of this operator; is jacquard.dev/paused meant?"},
		"jacquard.dev/initial":      {"spec.replicas", "jacquard.dev/initial is called jacquard.dev/initial-fields now, and does nothing on a resource: it is for documents in templates"},
		"jacquard.dev/somethingnew": {"x", "jacquard.dev/somethingnew is no annotation of this operator"},
		"jacquard.dev/on-immutable": {"recreate", "jacquard.dev/on-immutable does nothing on a resource: it is for documents in templates"},
		"jacquard.dev/paused":       {"yes", `jacquard.dev/paused does nothing unless it is "true"`},
		"jacquard.dev/allow-prune":  {"Secret/a", ""},
		"jacquard.dev/protect":      {"yes", `jacquard.dev/protect does nothing unless it is "true"`},
		"jacquard.dev/on-delete":    {"delete", "jacquard.dev/on-delete does nothing on a resource unless it is keep"},
		"jacquard.dev/written-by":   {"1-aa", ""},
		"jacquard.dev/owner":        {"webs.example.com/ns/parent", ""},
		"example.com/paused":        {"yes", ""},
	} {
		resource := &unstructured.Unstructured{Object: map[string]any{}}
		resource.SetAnnotations(map[string]string{key: c.value})
		out, err := status.Make(status.Input{Ignored: findIgnored(resource)})
		if err != nil {
			t.Fatal(err)
		}
		message, _ := status.Condition(map[string]any{"status": out.Status}, "AnnotationsIgnored")["message"].(string)
		if message != c.want || !out.Ready {
			t.Errorf("%s: the condition says %q, want %q; ready: %v", key, message, c.want, out.Ready)
		}
	}
}
