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
	m, last := r.find(c), map[string]any(nil)
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

// Settle returns the verdict of a child as the operator counted it when it wrote the
// status: who looks from outside does not know for how long a state has lasted.
func (r Reported) Settle(c Child, v readiness.Verdict) readiness.Verdict {
	if state, lasted := r.Lasting(c); lasted && state == v.State {
		return v.After(readiness.Patience)
	}
	return v
}

// SettleClaim returns the verdict of an Unbound claim, given its class and the workload
// that mounts it; all other verdicts stay. Where who looks may not read the class, the
// operator's decision stands.
func (r Reported) SettleClaim(c Child, v readiness.Verdict, class readiness.StorageClass, consumer string) readiness.Verdict {
	m := r.find(c)
	message := text(m, "message")
	if v.State != readiness.Unbound || class.Unknown == "" || !readiness.IsUnconsumed(message) {
		return v.WithClass(class).ConsumedBy(consumer)
	}
	if m["ready"] == true {
		return readiness.Verdict{State: readiness.Unconsumed, Message: message}
	}
	return readiness.Verdict{Message: message}
}

func (r Reported) find(c Child) map[string]any {
	for _, item := range r.children {
		m, _ := item.(map[string]any)
		if text(m, "apiVersion") == c.APIVersion && text(m, "kind") == c.Kind &&
			text(m, "namespace") == c.Namespace && text(m, "name") == c.Name {
			return m
		}
	}
	return nil
}
