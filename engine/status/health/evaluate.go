package health

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"

	"github.com/google/cel-go/common/types"
)

// A State is what a rule finds out about an object.
type State int

const (
	// InProgress means that the object is not ready yet, or that an expression could
	// not be evaluated.
	InProgress State = iota
	// Failed means that the expression failed is true.
	Failed
	// Current means that the object is ready.
	Current
)

// String returns the name of the state.
func (s State) String() string { return [...]string{"in progress", "failed", "current"}[s] }

// A Result is the state of an object; Message says why it is not Current, and is ""
// if it is.
type Result struct {
	State   State
	Message string
}

const (
	messageUnobserved = "its controller has not observed the latest change yet"
	messageNoStatus   = "it has no status yet"
	messageNotCurrent = "its health expression current is not true yet"
	messageTrue       = "its health expression %s is true"
)

// Evaluate returns the state of an object, which it does not change.
func (r *Rule) Evaluate(obj map[string]any) Result {
	if !r.existenceSuffices && isBehind(obj) {
		return Result{InProgress, messageUnobserved}
	}
	vars := objectVariables(obj)
	hasStatus := len(vars["status"].(map[string]any)) > 0
	for _, step := range []struct {
		name  string
		text  *expression
		state State
	}{{"inProgress", r.inProgress, InProgress}, {"failed", r.failed, Failed}, {"current", r.current, Current}} {
		isTrue, err := step.text.isTrue(vars)
		switch {
		case err != nil && !hasStatus:
			return Result{InProgress, messageNoStatus}
		case err != nil:
			return Result{InProgress, "its health expression " + step.name + " cannot be evaluated: " + describeError(err)}
		case isTrue && step.state == Current:
			return Result{State: Current}
		case isTrue:
			return Result{step.state, cmp.Or(r.explainObject(vars), fmt.Sprintf(messageTrue, step.name))}
		}
	}
	if text := r.explainObject(vars); text != "" || hasStatus {
		return Result{InProgress, cmp.Or(text, messageNotCurrent)}
	}
	return Result{InProgress, messageNoStatus}
}

// objectVariables returns the object with an empty map for every one of objectMaps that it lacks.
func objectVariables(obj map[string]any) map[string]any {
	vars := maps.Clone(obj)
	if vars == nil {
		vars = map[string]any{}
	}
	for _, name := range objectMaps {
		if vars[name] == nil {
			vars[name] = map[string]any{}
		}
	}
	if _, is := vars["status"].(map[string]any); !is {
		vars["status"] = map[string]any{}
	}
	return vars
}

// isBehind reports whether status.observedGeneration is not the object's generation.
// Some kinds have it as a text; one that is no number is ignored.
func isBehind(obj map[string]any) bool {
	status, _ := obj["status"].(map[string]any)
	metadata, _ := obj["metadata"].(map[string]any)
	generation, known := integerOf(metadata["generation"])
	observed, found := integerOf(status["observedGeneration"])
	return known && found && observed != generation
}

func integerOf(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), n == math.Trunc(n)
	case string:
		parsed, err := strconv.ParseInt(n, 10, 64)
		return parsed, err == nil
	}
	return 0, false
}

var (
	// absent matches CEL's errors about a field that an object does not have.
	absent = regexp.MustCompile(`^no such (?:key|attribute\(s\)): [\w./-]{1,100}`)
	// known matches other errors of CEL that have no value in them.
	known = regexp.MustCompile(`^(?:no such overload|operation cancelled: actual cost limit exceeded|index out of bounds|it is a [\w.]+, not a bool)`)
)

// describeError returns what is wrong without a value of the object.
func describeError(err error) string {
	for _, pattern := range []*regexp.Regexp{absent, known} {
		if text := pattern.FindString(err.Error()); text != "" {
			return text
		}
	}
	return "a value is not of the type that it expects"
}

// explainObject returns why an object is not current: the message of the entry, or else what the
// object's status says. It is "" if neither says anything.
func (r *Rule) explainObject(vars map[string]any) string {
	if r.message != nil {
		if value, err := r.message.evaluateFor(vars); err == nil {
			if text, is := value.(types.String); is && text != "" {
				return string(text)
			}
		}
	}
	status, _ := vars["status"].(map[string]any)
	return explainStatus(status)
}

// messageFields are what explainStatus and isBehind read.
var messageFields = [][]string{
	{"metadata", "generation"}, {"status", "conditions"}, {"status", "message"}, {"status", "observedGeneration"},
	{"status", "phase"}, {"status", "reason"},
}

// explainStatus returns the message of the condition Stalled if it is True, else of
// the first that is there and not True of Ready, Synced, Succeeded and Available,
// else status.message, status.reason or status.phase; "" if there is none.
func explainStatus(status map[string]any) string {
	items, _ := status["conditions"].([]any)
	for _, kind := range []string{"Stalled", "Ready", "Synced", "Succeeded", "Available"} {
		for _, item := range items {
			condition, _ := item.(map[string]any)
			value, _ := condition["status"].(string)
			if condition["type"] == kind && value != "" && (value == "True") == (kind == "Stalled") {
				return explainCondition(kind, value, condition)
			}
		}
	}
	for _, field := range []string{"message", "reason"} {
		if text, _ := status[field].(string); text != "" {
			return text
		}
	}
	if phase, _ := status["phase"].(string); phase != "" {
		return "phase " + phase
	}
	return ""
}

// explainCondition returns the message of a condition, else its reason, else its value.
func explainCondition(kind, value string, condition map[string]any) string {
	if message, _ := condition["message"].(string); message != "" {
		return message
	}
	if reason, _ := condition["reason"].(string); reason != "" {
		return kind + "=" + value + ": " + reason
	}
	return kind + "=" + value
}
