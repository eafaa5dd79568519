package status

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Ready is the condition Ready of a resource.
type Ready struct {
	Status, Reason string
	// Observed is the generation of the resource that the condition speaks of.
	Observed int64
	Since    time.Time
}

// ReadyOf reads the condition Ready; seen is false if there is none.
func ReadyOf(o *unstructured.Unstructured) (ready Ready, seen bool) {
	c := Condition(o.Object, "Ready")
	if c == nil {
		return ready, false
	}
	ready.Status, _ = c["status"].(string)
	ready.Reason, _ = c["reason"].(string)
	since, _ := c["lastTransitionTime"].(string)
	ready.Since, _ = time.Parse(time.RFC3339, since)
	var found bool
	if ready.Observed, found = c["observedGeneration"].(int64); !found {
		ready.Observed = o.GetGeneration() // the CRD does not declare it: nobody knows
	}
	return ready, true
}

// IsReady reports whether the resource is ready as it is now.
func IsReady(o *unstructured.Unstructured) bool {
	ready, seen := ReadyOf(o)
	return seen && ready.Status == "True" && ready.Observed == o.GetGeneration()
}
