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

// changes are the paths at which two values differ, as deep as both go.
func changes(path []any, want, got any) []change {
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
			all = append(all, changes(append(path, key), entry(w, key), entry(g, key))...)
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		var all []change
		for i := range w {
			all = append(all, changes(append(path, i), w[i], g[i])...)
		}
		return all
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []change{{path, want, got}}
}

func entry(m map[string]any, key string) any {
	if v, there := m[key]; there {
		return v
	}
	return absent{}
}

// plain is a value with all numbers of one type.
func plain(v any) any {
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

// hint is the sentence above a diff: it says the difference if it is one value.
func (p pair) hint(label string) string {
	all := changes(nil, plain(p.want), plain(p.got.object))
	if label != "" {
		label += ": "
	}
	if len(all) != 1 {
		return fmt.Sprintf("%s%d fields differ (%s)", label, len(all), p.got.place())
	}
	c := all[0]
	where := p.got.place()
	if p.got.doc != nil {
		where = p.got.doc.Place(c.path...).String()
	}
	if secretPath(p.want, c.path) || secretPath(p.got.object, c.path) {
		return fmt.Sprintf("%s%s differs; it is not shown (%s)", label, dotted(c.path), where)
	}
	return fmt.Sprintf("%s%s is %s, wanted is %s (%s)", label, dotted(c.path), short(c.got), short(c.want), where)
}

// longest bounds what a hint shows of a value, in characters.
const longest = 60

func short(v any) string {
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

// dotted writes a path: spec.containers[0].image.
func dotted(path []any) string {
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
