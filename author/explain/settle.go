package explain

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jacquard-operator/jacquard/engine/apply/ownership"
	"github.com/jacquard-operator/jacquard/engine/status"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// SettleVerdict returns the verdict of a child as the operator counted it when it wrote
// the status: who looks from outside does not know for how long a state has lasted.
func SettleVerdict(before status.Reported, c status.Child, v readiness.Verdict) readiness.Verdict {
	if state, lasted := before.Lasting(c); lasted && state == v.State {
		return v.After(readiness.Patience)
	}
	return v
}

// SettleClaim returns the verdict of an Unbound claim, given its class and the workload
// that mounts it; all other verdicts stay. Where who looks may not read the class, the
// operator's decision stands.
func SettleClaim(before status.Reported, c status.Child, v readiness.Verdict, class readiness.StorageClass,
	consumer string) readiness.Verdict {
	reported := before.Find(c)
	message, _ := reported["message"].(string)
	if v.State != readiness.Unbound || class.Unknown == "" || !readiness.IsUnconsumed(message) {
		return v.WithClass(class).ConsumedBy(consumer)
	}
	if reported["ready"] == true {
		return readiness.Verdict{State: readiness.Unconsumed, Message: message}
	}
	return readiness.Verdict{Message: message}
}

// FindConsumer names a workload whose Pods mount a claim and run now; "" is none. Of
// several it is the first by kind and name.
func FindConsumer(claim map[string]any, workloads []map[string]any) (consumer string) {
	for _, w := range workloads {
		o := unstructured.Unstructured{Object: w}
		called := o.GetKind() + " " + o.GetName()
		if (consumer == "" || called < consumer) && readiness.Mounts(w, claim) && readiness.RunsPods(w) {
			consumer = called
		}
	}
	return consumer
}

// ListForeign lists what others added to the lists of which manager applied entries, as
// [ownership.Beside] finds it: each path, and whose it is, if that is known.
func ListForeign(body map[string]any, managed []metav1.ManagedFieldsEntry, manager string) []string {
	var texts []string
	for _, f := range ownership.Beside(body, managed, manager) {
		text := f.Path
		if len(f.Managers) > 0 {
			text += " of " + strings.Join(f.Managers, " and ")
		}
		texts = append(texts, text)
	}
	return texts
}
