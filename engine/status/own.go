package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// ownPart splits what status.yaml says: its fields, its conditions, and its
// Ready entry, nil if it has none. Without status.yaml the live fields and
// conditions stay.
func ownPart(in Input) (fields map[string]any, cs []map[string]any, ready *state, err error) {
	if in.Own == nil {
		return keptFields(in.Live), keptConditions(in.Live), nil, nil
	}
	fields = maps.Clone(in.Own)
	for _, name := range engineFields {
		if _, ok := fields[name]; ok {
			return nil, nil, nil, fmt.Errorf("reading status.yaml: %s is set by the engine", name)
		}
	}
	delete(fields, "conditions")
	cs, ready, err = ownConditions(in.Own["conditions"])
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading status.yaml: %w", err)
	}
	return fields, cs, ready, nil
}

func keptFields(live map[string]any) map[string]any {
	fields := map[string]any{}
	for name, v := range live {
		if name != "conditions" && !slices.Contains(engineFields, name) {
			fields[name] = v
		}
	}
	return fields
}

func keptConditions(live map[string]any) []map[string]any {
	var cs []map[string]any
	l, _ := live["conditions"].([]any)
	for _, item := range l {
		m, ok := item.(map[string]any)
		kind := text(m, "type")
		if ok && kind != "" && kind != "Ready" && !slices.Contains(transient, kind) {
			cs = append(cs, maps.Clone(m))
		}
	}
	return cs
}

// ownConditions checks the conditions of a status.yaml and takes Ready out.
func ownConditions(v any) (cs []map[string]any, ready *state, err error) {
	if v == nil {
		return nil, nil, nil
	}
	l, ok := v.([]any)
	if !ok {
		return nil, nil, fmt.Errorf("conditions is not a list")
	}
	for i, item := range l {
		c, err := ownCondition(item)
		if err != nil {
			return nil, nil, fmt.Errorf("conditions[%d]: %w", i, err)
		}
		kind := text(c, "type")
		if has(cs, kind) || kind == "Ready" && ready != nil {
			return nil, nil, fmt.Errorf("conditions[%d]: type %s occurs twice", i, kind)
		}
		if kind == "Ready" {
			ready = ownReady(item.(map[string]any), c)
			continue
		}
		cs = append(cs, c)
	}
	return cs, ready, nil
}

// ownReady is the state of status.yaml's Ready entry as given, and as filled in:
// being not ready for the reason "Ready" would tell nobody anything.
func ownReady(given, filled map[string]any) *state {
	s := state{text(filled, "status"), text(filled, "reason"), text(filled, "message")}
	if text(given, "reason") == "" {
		s.reason = api.ReasonStatusNotReady
	}
	return &s
}

// ownCondition checks one condition and fills in reason and message.
func ownCondition(item any) (map[string]any, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("not a map")
	}
	c := maps.Clone(m)
	for _, field := range []string{"type", "status", "reason", "message", "lastTransitionTime"} {
		if _, isText := c[field].(string); !isText && c[field] != nil {
			return nil, fmt.Errorf("%s is not a string", field)
		}
	}
	kind, status := text(c, "type"), text(c, "status")
	switch {
	case kind == "":
		return nil, fmt.Errorf("it has no type")
	case slices.Contains(transient, kind):
		return nil, fmt.Errorf("type %s is set by the engine", kind)
	case status != "True" && status != "False" && status != "Unknown":
		return nil, fmt.Errorf("type %s: status is not True, False or Unknown", kind)
	case kind == "Ready" && status == "True":
		return nil, fmt.Errorf("type Ready: only the operator sets True")
	}
	if at := text(c, "lastTransitionTime"); at != "" {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			return nil, fmt.Errorf("type %s: lastTransitionTime is not an RFC 3339 time", kind)
		}
	} else {
		delete(c, "lastTransitionTime")
	}
	c["reason"] = cmp.Or(text(c, "reason"), kind)
	c["message"] = text(c, "message")
	return c, nil
}
