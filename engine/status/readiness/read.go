package readiness

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxMessage is the longest message, in bytes.
const maxMessage = 256

// A condition is one entry of status.conditions.
type condition struct {
	Type, Status, Reason, Message string
	observedGeneration            int64
}

func conditions(obj map[string]any) []condition {
	return parse(list(obj, "status", "conditions"))
}

// parse reads conditions and skips what is none.
func parse(items []any) []condition {
	var cs []condition
	for _, item := range items {
		m, _ := item.(map[string]any)
		c := condition{Type: str(m, "type"), Status: str(m, "status"), Reason: str(m, "reason"), Message: str(m, "message")}
		c.observedGeneration, _ = integer(m, "observedGeneration")
		if c.Type != "" {
			cs = append(cs, c)
		}
	}
	return cs
}

// find is the condition of this type, or a zero one.
func find(cs []condition, kind string) condition {
	for _, c := range cs {
		if c.Type == kind {
			return c
		}
	}
	return condition{}
}

// at follows field names; nil where there is nothing.
func at(obj map[string]any, path ...string) any {
	var v any = obj
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func str(obj map[string]any, path ...string) string {
	s, _ := at(obj, path...).(string)
	return s
}

func list(obj map[string]any, path ...string) []any {
	l, _ := at(obj, path...).([]any)
	return l
}

func integer(obj map[string]any, path ...string) (int64, bool) {
	switch n := at(obj, path...).(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}

// join puts two parts of a message together; either may be "".
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

// moment is an RFC 3339 time: a message that holds one changes without news.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|[+-]\d\d:?\d\d))?`)

// shorten makes one line of at most maxMessage bytes, without times.
func shorten(message string) string {
	message = moment.ReplaceAllString(strings.Join(strings.Fields(message), " "), "(time)")
	if len(message) <= maxMessage {
		return message
	}
	cut := maxMessage - len("…")
	for cut > 0 && !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + "…"
}
