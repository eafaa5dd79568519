package health

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Conditions are the conditions of a resource, by type.
func Conditions(o *unstructured.Unstructured) map[string]map[string]any {
	said := map[string]map[string]any{}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range conditions {
		if one, _ := item.(map[string]any); one != nil {
			name, _ := one["type"].(string)
			said[name] = one
		}
	}
	return said
}

// A Readiness is what the condition Ready of a resource says.
type Readiness struct {
	// Status is True, False or Unknown.
	Status, Reason, Message string
	// Unserved: the resource is new, or was changed since it was served last.
	Unserved bool
}

// ReadyOf tells whether a resource is Ready. A condition about an earlier generation does
// not say so of the present one, but its reason may be why that is not served.
func ReadyOf(o *unstructured.Unstructured) Readiness {
	ready := Conditions(o)["Ready"]
	if ready == nil {
		return Readiness{Status: "Unknown", Reason: "New", Message: "it has no condition Ready yet", Unserved: true}
	}
	text := func(key string) string { s, _ := ready[key].(string); return s }
	r := Readiness{Status: text("status"), Reason: text("reason"), Message: text("message")}
	observed, known := ready["observedGeneration"].(int64)
	r.Unserved = known && observed != o.GetGeneration()
	switch {
	case r.Unserved && r.Status == "True":
		return Readiness{Status: "Unknown", Reason: "Changed", Message: "its last change is not served yet", Unserved: true}
	case r.Unserved:
		r.Status = "Unknown"
		r.Message += " (before its last change, which is not served yet)"
	case r.Status != "True" && r.Status != "False":
		r.Status = "Unknown"
	}
	return r
}
