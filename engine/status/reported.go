package status

import (
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// A Reported is what the status of a resource says of its children.
type Reported struct {
	children         []any
	declared, isCut  bool
	ready, isStalled bool
}

// ReportedBy reads the status of a resource.
func ReportedBy(resource map[string]any) Reported {
	status, _ := resource["status"].(map[string]any)
	var r Reported
	r.children, r.declared = status["children"].([]any)
	r.isCut = len(r.children) == maxChildren
	r.ready = text(conditionOf(status, "Ready"), "status") == "True"
	r.isStalled = text(conditionOf(status, "Stalled"), "status") == "True"
	return r
}

// IsReady reports whether the condition Ready is True.
func (r Reported) IsReady() bool { return r.ready }

// Lasting returns the temporary state of a child that counted as lasting when the status
// was written; lasted is false if there was none.
func (r Reported) Lasting(c Child) (state readiness.State, lasted bool) {
	m, last := r.Find(c), map[string]any(nil)
	if n := len(r.children); n > 0 {
		last, _ = r.children[n-1].(map[string]any)
	}
	isReady := m["ready"] == true && text(m, "message") == readiness.MessageSilent
	if m == nil { // the list is cut behind those that are not ready, or the CRD does not declare it
		isReady = r.isCut && last["ready"] == true || !r.declared && r.ready
	}
	switch {
	case isReady:
		return readiness.Unreported, true
	case r.isStalled && (m != nil && m["ready"] == false || m == nil && !r.declared):
		return readiness.Failing, true
	}
	return readiness.Waiting, false
}

// Find returns what the status says of a child; nil is nothing.
func (r Reported) Find(c Child) map[string]any {
	for _, item := range r.children {
		m, _ := item.(map[string]any)
		if text(m, "apiVersion") == c.APIVersion && text(m, "kind") == c.Kind &&
			text(m, "namespace") == c.Namespace && text(m, "name") == c.Name {
			return m
		}
	}
	return nil
}
