package readiness

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Verdict reports whether a child is ready. Failed means that it will not
// become ready by waiting. Message says why it is not ready, or "".
type Verdict struct {
	Ready   bool
	Failed  bool
	Message string
}

const (
	messageDeleted    = "being deleted"
	messageUnobserved = "its controller has not observed the latest change yet"
	messageNoStatus   = "its controller has not reported a status yet"
)

// Of judges a child. crdDeclaresConditions says that the child's CRD declares
// status.conditions, so that having none means that nobody has looked at it.
// The error says that the object's status is not what its kind promises.
func Of(obj map[string]any, crdDeclaresConditions bool) (Verdict, error) {
	if str(obj, "metadata", "deletionTimestamp") != "" {
		return waiting(messageDeleted), nil
	}
	gk := kindOf(obj)
	if behind(obj, observed[gk]) {
		return waiting(messageUnobserved), nil
	}
	if rule, ok := rules[gk]; ok {
		return tidy(rule(obj)), nil
	}
	cs := conditions(obj)
	if crdDeclaresConditions && len(cs) == 0 {
		return waiting("it has no conditions yet"), nil
	}
	if stale(obj, cs) {
		return waiting(messageUnobserved), nil
	}
	v, err := general(obj)
	if err != nil {
		return Verdict{}, fmt.Errorf("judging %s %s: %w", gk.Kind, str(obj, "metadata", "name"), err)
	}
	return tidy(v), nil
}

// general asks kstatus. Its rule for Pods reads the clock; Pods have their own
// rule here and never come to it.
func general(obj map[string]any) (Verdict, error) {
	res, err := status.Compute(&unstructured.Unstructured{Object: obj})
	if err != nil {
		return Verdict{}, err
	}
	switch res.Status {
	case status.CurrentStatus:
		return Verdict{Ready: true}, nil
	case status.FailedStatus:
		return failed(res.Message), nil
	}
	return waiting(res.Message), nil
}

func waiting(message string) Verdict { return Verdict{Message: message} }

func failed(message string) Verdict { return Verdict{Failed: true, Message: message} }

// tidy makes the message fit for a status.
func tidy(v Verdict) Verdict {
	if v.Ready {
		return Verdict{Ready: true}
	}
	v.Message = shorten(v.Message)
	if v.Message == "" {
		v.Message = "not ready"
	}
	return v
}

// behind reports whether status.observedGeneration is not that of the object.
// must says that the kind's controller always sets it.
func behind(obj map[string]any, must bool) bool {
	generation, ok := integer(obj, "metadata", "generation")
	if !ok {
		return false
	}
	seen, ok := integer(obj, "status", "observedGeneration")
	if !ok {
		return must
	}
	return seen < generation
}

// stale reports whether the conditions themselves are of an older generation: the
// Ready condition where there is one, else all that tell.
func stale(obj map[string]any, cs []condition) bool {
	generation, ok := integer(obj, "metadata", "generation")
	if !ok {
		return false
	}
	newest := int64(0)
	for _, c := range cs {
		if c.Type == "Ready" {
			return c.observedGeneration > 0 && c.observedGeneration < generation
		}
		newest = max(newest, c.observedGeneration)
	}
	return newest > 0 && newest < generation
}

func kindOf(obj map[string]any) schema.GroupKind {
	gv, err := schema.ParseGroupVersion(str(obj, "apiVersion"))
	if err != nil {
		return schema.GroupKind{Kind: str(obj, "kind")}
	}
	return schema.GroupKind{Group: gv.Group, Kind: str(obj, "kind")}
}
