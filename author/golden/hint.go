package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A change is one path at which two objects differ; absent is the value of what
// is not there.
type change struct {
	path      []any
	want, got any
}

type absent struct{}

// diffValues returns the paths at which two values differ, as deep as both go.
func diffValues(path []any, want, got any) []change {
	path = slices.Clip(path)
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Collect(maps.Keys(w))
		keys = slices.AppendSeq(keys, maps.Keys(g))
		slices.Sort(keys)
		var all []change
		for _, key := range slices.Compact(keys) {
			all = append(all, diffValues(append(path, key), entryOf(w, key), entryOf(g, key))...)
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		var all []change
		for i := range w {
			all = append(all, diffValues(append(path, i), w[i], g[i])...)
		}
		return all
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []change{{path, want, got}}
}

// entryOf returns the value of a key, or absent.
func entryOf(m map[string]any, key string) any {
	if v, there := m[key]; there {
		return v
	}
	return absent{}
}

// unifyNumbers returns a value with all numbers of one type.
func unifyNumbers(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(text, &out) != nil {
		return v
	}
	return out
}

// formatHint returns the sentence above a diff. It names the difference if it is one value.
func (p pair) formatHint(label string) string {
	all := diffValues(nil, unifyNumbers(p.want), unifyNumbers(p.got.object))
	if label != "" {
		label += ": "
	}
	if len(all) != 1 {
		return fmt.Sprintf("%s%d fields differ (%s)", label, len(all), p.got.formatPlace())
	}
	c := all[0]
	where := p.got.formatPlace()
	if p.got.doc != nil {
		where = p.got.doc.Place(c.path...).String()
	}
	if secretPath(p.want, c.path) || secretPath(p.got.object, c.path) {
		return fmt.Sprintf("%s%s differs; it is not shown (%s)", label, formatPath(c.path), where)
	}
	return fmt.Sprintf("%s%s is %s, wanted is %s (%s)", label, formatPath(c.path), shortenValue(c.got), shortenValue(c.want), where)
}

// longest bounds what a hint shows of a value, in characters.
const longest = 60

// shortenValue returns a value as JSON, shortened to what a hint may show.
func shortenValue(v any) string {
	if _, gone := v.(absent); gone {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	if runes := []rune(string(text)); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return string(text)
}

// formatPath formats a path: spec.containers[0].image.
func formatPath(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			switch {
			case strings.ContainsAny(step, "./"):
				fmt.Fprintf(&b, "[%q]", step)
			case b.Len() > 0:
				b.WriteString("." + step)
			default:
				b.WriteString(step)
			}
		}
	}
	return b.String()
}
