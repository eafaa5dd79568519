package health

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/verdict"
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

// resourceStates are the states of a resource, the worst first.
var resourceStates = []verdict.State{verdict.Stalled, verdict.Reconciling, verdict.Deleting, verdict.Paused, verdict.Ready}

// ResourceMeanings returns what the states of a resource mean, the worst first.
func ResourceMeanings() []verdict.Meaning {
	var all []verdict.Meaning
	for _, state := range resourceStates {
		all = append(all, state.Meaning())
	}
	return all
}

// StateOf returns the one state that a resource is listed under. That it was stalled before
// its last change does not count.
func StateOf(o *unstructured.Unstructured) verdict.State {
	ready := ReadyOf(o)
	switch {
	case o.GetDeletionTimestamp() != nil:
		return verdict.Deleting
	case IsPaused(o):
		return verdict.Paused
	case ready.Status == "True":
		return verdict.Ready
	case !ready.Unserved && Conditions(o)["Stalled"]["status"] == "True":
		return verdict.Stalled
	}
	return verdict.Reconciling
}

// IsPaused reports whether a resource is paused, or is about to be.
func IsPaused(o *unstructured.Unstructured) bool {
	return o.GetAnnotations()[api.AnnotationPaused] == "true" || Conditions(o)["Paused"]["status"] == "True"
}
