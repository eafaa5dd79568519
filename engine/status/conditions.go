package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jacquard-operator/jacquard/engine/api"
	"github.com/jacquard-operator/jacquard/engine/status/readiness"
)

// transient are the engine's conditions that are there only while True.
var transient = []string{"Reconciling", "Stalled", "Paused", "ChildrenKept", "AnnotationsIgnored", "RolloutPending"}

// A state is what one condition says.
type state struct{ status, reason, message string }

func (s state) condition(kind string) map[string]any {
	return map[string]any{"type": kind, "status": s.status, "reason": s.reason, "message": s.message}
}

// readyState is the state of Ready: the worst problem, else the children that
// are not ready, else what status.yaml says. Of what was not applied since the
// resource is paused nobody knows whether it would be ready.
func readyState(problems []Problem, in Input, own *state) state {
	if len(problems) > 0 {
		return state{"False", problems[0].Reason, summary(problems)}
	}
	if s := unready(in.Children); s != nil {
		return *s
	}
	if own != nil {
		return state{"False", own.reason, clip(own.message, maxMessage)}
	}
	if s := paused(in); s != nil && s.reason == api.ReasonNotApplied {
		return state{"Unknown", api.ReasonPaused, s.message}
	}
	return state{"True", api.ReasonReady, countMessage(in.Children)}
}

// countMessage is the message of Ready. A ready child has a message if its health is not
// known, or if it is a claim that waits for its first consumer.
func countMessage(children []Child) string {
	message, unknown, unconsumed := fmt.Sprintf("%d children are ready", len(children)), 0, 0
	for _, c := range children {
		switch {
		case readiness.IsUnknown(c.Message):
			unknown++
		case readiness.IsUnconsumed(c.Message):
			unconsumed++
		}
	}
	switch len(children) {
	case 0:
		return "nothing to wait for"
	case 1:
		message = "1 child is ready"
	}
	if unknown > 0 {
		message += fmt.Sprintf("; of %d the health is not known", unknown)
	}
	if unconsumed > 0 {
		message += fmt.Sprintf("; of %d the volume waits for a first consumer", unconsumed)
	}
	return message
}

// unready names the first child that is not ready, nil if all are.
func unready(children []Child) *state {
	notReady := slices.DeleteFunc(ordered(children), func(c Child) bool { return c.Ready })
	if len(notReady) == 0 {
		return nil
	}
	return &state{"False", api.ReasonChildrenNotReady, listing([]string{about(notReady[0])}, len(notReady)-1)}
}

// passing makes the conditions that are there only while True. Stalled and
// Reconciling exclude each other: kstatus takes the first that it finds.
func passing(problems []Problem, in Input, ready state) []map[string]any {
	var cs []map[string]any
	add := func(kind string, s state) { cs = append(cs, s.condition(kind)) }
	switch {
	case len(problems) > 0 && problems[0].Severity == Stalled:
		add("Stalled", state{"True", ready.reason, ready.message})
	case len(problems) > 0 || unready(in.Children) != nil:
		add("Reconciling", state{"True", ready.reason, ready.message})
	}
	if s := paused(in); s != nil {
		add("Paused", *s)
	}
	if in.Refused != "" {
		add("RolloutPending", state{"True", api.ReasonPreviewFailed, clip(in.Refused, maxMessage)})
	}
	if len(in.Kept) > 0 {
		reason := api.ReasonWaiting
		if in.KeptFailed {
			reason = api.ReasonRenderFailed
		}
		add("ChildrenKept", state{"True", reason, listing(slices.Sorted(slices.Values(in.Kept)), 0)})
	}
	if len(in.Ignored) > 0 {
		add("AnnotationsIgnored", state{"True", api.ReasonUnknownAnnotation, listing(slices.Sorted(slices.Values(in.Ignored)), 0)})
	}
	return cs
}

// finish sorts conditions, Ready first, and fills in what they leave out. The
// transition time is the live one while the status is the same.
func finish(cs []map[string]any, in Input) {
	slices.SortFunc(cs, func(a, b map[string]any) int { return strings.Compare(order(a), order(b)) })
	for _, c := range cs {
		if c["observedGeneration"] == nil {
			c["observedGeneration"] = in.Generation
		}
		if c["lastTransitionTime"] == nil {
			c["lastTransitionTime"] = transition(c, in.Live, in.Now)
		}
	}
}

func order(c map[string]any) string {
	kind := text(c, "type")
	if kind == "Ready" {
		return "" // before every other type
	}
	return kind
}

// transition is when a condition came to its status, as a JSON string.
func transition(c, live map[string]any, now metav1.Time) string {
	old := conditionOf(live, text(c, "type"))
	if text(old, "status") == text(c, "status") {
		if _, err := time.Parse(time.RFC3339, text(old, "lastTransitionTime")); err == nil {
			return text(old, "lastTransitionTime")
		}
	}
	return now.UTC().Format(time.RFC3339)
}

// onTheWay are the reasons of Ready while all is well.
var onTheWay = []string{
	"", api.ReasonReady, api.ReasonStatusNotReady, api.ReasonChildrenNotReady, api.ReasonWaiting, api.ReasonChildWaiting, api.ReasonDeleting,
}

// ordinary reports whether only Ready and Reconciling change, by reasons of the way
// to Ready, and beside them conditions of the kind's own while Ready is not True. That
// a resource is not ready any more, though nobody changed it, is not ordinary.
func ordinary(cs []map[string]any, live map[string]any) bool {
	before, after := conditionOf(live, "Ready"), among(cs, "Ready")
	if text(before, "status") == "True" && text(after, "status") != "True" && before["observedGeneration"] != nil &&
		sameScalar(before["observedGeneration"], after["observedGeneration"]) {
		return false
	}
	arrived := true
	for _, ready := range []map[string]any{before, after} {
		if !slices.Contains(onTheWay, text(ready, "reason")) {
			return false
		}
		arrived = arrived && text(ready, "status") == "True"
	}
	for _, kind := range transient {
		if kind != "Reconciling" && differ(conditionOf(live, kind), among(cs, kind)) {
			return false
		}
	}
	return !arrived || !slices.ContainsFunc(cs, func(c map[string]any) bool { return differ(conditionOf(live, text(c, "type")), c) })
}

func differ(a, b map[string]any) bool {
	return text(a, "status") != text(b, "status") || text(a, "reason") != text(b, "reason")
}

// changes says which conditions differ from the live ones in status or reason.
func changes(cs []map[string]any, live map[string]any) []string {
	var changed []string
	for _, c := range cs {
		old := conditionOf(live, text(c, "type"))
		if differ(old, c) {
			line := fmt.Sprintf("%s is %s (%s)", text(c, "type"), text(c, "status"), text(c, "reason"))
			if message := text(c, "message"); message != "" {
				line += ": " + message
			}
			changed = append(changed, clip(line, maxLine))
		}
	}
	for _, kind := range transient {
		if old := conditionOf(live, kind); old != nil && !has(cs, kind) {
			changed = append(changed, fmt.Sprintf("%s is over (%s)", kind, text(old, "reason")))
		}
	}
	return changed
}

func has(cs []map[string]any, kind string) bool { return among(cs, kind) != nil }

// among is the condition of this type, nil if there is none.
func among(cs []map[string]any, kind string) map[string]any {
	for _, c := range cs {
		if text(c, "type") == kind {
			return c
		}
	}
	return nil
}

// Condition is the condition of this type of an object, nil if it has none.
func Condition(object map[string]any, kind string) map[string]any {
	status, _ := object["status"].(map[string]any)
	return conditionOf(status, kind)
}

// conditionOf is the condition of this type in a status, nil if there is none.
func conditionOf(status map[string]any, kind string) map[string]any {
	l, _ := status["conditions"].([]any)
	for _, item := range l {
		if m, ok := item.(map[string]any); ok && text(m, "type") == kind {
			return m
		}
	}
	return nil
}

// text is a field of a map as a string, "" if it is none.
func text(m map[string]any, field string) string {
	s, _ := m[field].(string)
	return s
}
