package readiness

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	crdschema "github.com/jacquard-operator/jacquard/engine/schema"
	"github.com/jacquard-operator/jacquard/engine/status/health"
)

// A State is how ready a child is.
type State int

const (
	// Waiting means that the child is not ready yet, and may become so by itself.
	Waiting State = iota
	// Unreported means that the child's CRD declares conditions, and that it has none.
	// It counts as ready once that has lasted for Patience.
	Unreported
	// Failing means that a health expression says that the child failed, which may
	// pass. It counts as Failed once that has lasted for Patience.
	Failing
	// Unbound means that the child is a claim without a volume. Its StorageClass decides
	// whether it waits for a Pod, which WithClass finds out.
	Unbound
	// Unconsumed means that the child is a claim that gets its volume once a Pod mounts
	// it. It counts as ready, unless a child runs such Pods, which ConsumedBy finds out.
	Unconsumed
	// Failed means that the child will not become ready by waiting.
	Failed
	// Ready means that the child is ready, as far as is known.
	Ready
)

// String returns the name of the state.
func (s State) String() string {
	return [...]string{"waiting", "unreported", "failing", "unbound", "unconsumed", "failed", "ready"}[s]
}

// Patience is how long a child may have no conditions, or may fail by its health
// expression, before that counts.
const Patience = 60 * time.Second

// A Verdict is how ready a child is. Message says why it is not ready, or, of one that
// counts as ready, why its health is not known or what it waits for; else it is "".
type Verdict struct {
	State   State
	Message string
}

// IsReady reports whether the child counts as ready.
func (v Verdict) IsReady() bool { return v.State == Ready || v.State == Unconsumed }

// IsFailed reports whether the child will not become ready by waiting.
func (v Verdict) IsFailed() bool { return v.State == Failed }

// IsTemporary reports whether the state becomes another one by lasting for Patience.
func (v Verdict) IsTemporary() bool { return v.State == Unreported || v.State == Failing }

// After returns the verdict once its state has lasted for so long.
func (v Verdict) After(lasted time.Duration) Verdict {
	switch {
	case lasted < Patience:
	case v.State == Unreported:
		return Verdict{Ready, MessageSilent}
	case v.State == Failing:
		return Verdict{Failed, v.Message}
	}
	return v
}

const (
	// MessageDeleted is the message of a child that is being deleted.
	MessageDeleted    = "being deleted"
	messageUnobserved = "its controller has not observed the latest change yet"
	messageNoStatus   = "its controller has not reported a status yet"
	messageUnreported = "it has no conditions yet"

	unknown = "health not known: it reports "
	// MessageSilent is the message of a child that counts as ready although it has no
	// conditions.
	MessageSilent = unknown + "nothing"
)

// IsUnknown reports whether a message is that of a child whose health is not known.
func IsUnknown(message string) bool { return strings.HasPrefix(message, unknown) }

// Of judges a child. rule is the health entry of its kind, or nil.
// crdDeclaresConditions says that the child's CRD declares status.conditions. The error
// says that the object's status is not what its kind promises.
func Of(obj map[string]any, rule *health.Rule, crdDeclaresConditions bool) (Verdict, error) {
	if str(obj, "metadata", "deletionTimestamp") != "" {
		return waiting(MessageDeleted), nil
	}
	if rule != nil {
		return byRule(rule.Evaluate(obj)), nil
	}
	gk := kindOf(obj)
	if behind(obj, observed[gk]) {
		return waiting(messageUnobserved), nil
	}
	if rule, ok := rules[gk]; ok {
		return tidy(rule(obj)), nil
	}
	cs := conditions(obj)
	if stale(obj, cs) {
		return waiting(messageUnobserved), nil
	}
	v, err := general(obj)
	if err != nil {
		return Verdict{}, fmt.Errorf("judging %s %s: %w", gk.Kind, str(obj, "metadata", "name"), err)
	}
	if v.IsReady() {
		v = byConditions(cs, crdDeclaresConditions, isBuiltIn(obj))
	}
	return tidy(v), nil
}

// byRule is what a health entry has found out.
func byRule(r health.Result) Verdict {
	states := map[health.State]State{health.Current: Ready, health.Failed: Failing, health.InProgress: Waiting}
	return tidy(Verdict{states[r.State], r.Message})
}

// general asks kstatus. Its rule for Pods reads the clock; Pods have their own
// rule here and never come to it.
func general(obj map[string]any) (Verdict, error) {
	res, err := status.Compute(&unstructured.Unstructured{Object: withNumber(obj)})
	if err != nil {
		return Verdict{}, err
	}
	switch res.Status {
	case status.CurrentStatus:
		return ready, nil
	case status.FailedStatus:
		return failed(res.Message), nil
	}
	return waiting(res.Message), nil
}

// withNumber returns the object with a status.observedGeneration that is a number, which
// kstatus insists on. Some kinds have it as a text; what is no number is left out.
func withNumber(obj map[string]any) map[string]any {
	text, is := at(obj, "status", "observedGeneration").(string)
	if !is {
		return obj
	}
	changed := maps.Clone(obj["status"].(map[string]any))
	delete(changed, "observedGeneration")
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		changed["observedGeneration"] = n
	}
	out := maps.Clone(obj)
	out["status"] = changed
	return out
}

// summaries are the types of conditions that say of an object as a whole whether it is
// ready; the first that an object has decides.
var summaries = []string{"Ready", "Available", "Healthy", "Synced", "Succeeded"}

// findSummary returns the condition that decides, or a zero one.
func findSummary(cs []condition) condition {
	for _, kind := range summaries {
		if c := find(cs, kind); c.Status != "" {
			return c
		}
	}
	return condition{}
}

// byConditions judges an object with which kstatus finds nothing wrong.
func byConditions(cs []condition, crdDeclares, builtIn bool) Verdict {
	switch c := findSummary(cs); c.Status {
	case "":
	case "True":
		return ready
	default:
		return waiting(join(join(c.Type+"="+c.Status, c.Reason), c.Message))
	}
	switch {
	case builtIn: // none of its conditions is about its health
		return ready
	case len(cs) > 0:
		return Verdict{Ready, unknown + listed(cs)}
	case crdDeclares:
		return Verdict{Unreported, messageUnreported}
	}
	return ready
}

// listed are conditions as Type=Status, by type: a controller may write them in any order.
func listed(cs []condition) string {
	texts := make([]string, len(cs))
	for i, c := range cs {
		if texts[i] = c.Type; c.Status != "" {
			texts[i] += "=" + c.Status
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

var ready = Verdict{State: Ready}

func waiting(message string) Verdict { return Verdict{Waiting, message} }

func failed(message string) Verdict { return Verdict{Failed, message} }

// tidy makes the message fit for a status.
func tidy(v Verdict) Verdict {
	v.Message = shorten(v.Message)
	if v.Message == "" && !v.IsReady() {
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
	seen, ok := integer(withNumber(obj), "status", "observedGeneration")
	if !ok {
		return must
	}
	return seen < generation
}

// stale reports whether the conditions themselves are of an older generation: the one that
// decides, where there is one, else all that have a generation.
func stale(obj map[string]any, cs []condition) bool {
	generation, ok := integer(obj, "metadata", "generation")
	if !ok {
		return false
	}
	newest := findSummary(cs).observedGeneration
	if findSummary(cs) == (condition{}) {
		for _, c := range cs {
			newest = max(newest, c.observedGeneration)
		}
	}
	return newest > 0 && newest < generation
}

// isBuiltIn reports whether Kubernetes itself has the object's kind.
func isBuiltIn(obj map[string]any) bool {
	gvk := schema.FromAPIVersionAndKind(str(obj, "apiVersion"), str(obj, "kind"))
	return crdschema.BuiltIn(gvk) || gvk.Group == "apiextensions.k8s.io"
}

func kindOf(obj map[string]any) schema.GroupKind {
	gv, err := schema.ParseGroupVersion(str(obj, "apiVersion"))
	if err != nil {
		return schema.GroupKind{Kind: str(obj, "kind")}
	}
	return schema.GroupKind{Group: gv.Group, Kind: str(obj, "kind")}
}
