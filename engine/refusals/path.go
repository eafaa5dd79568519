package refusals

import (
	"fmt"
	"strconv"
	"strings"
)

// parsePath reads a field path as the API server writes it, such as
// spec.ports[0].name, metadata.labels[a.b/c] or .containers[name="x"].image.
func parsePath(text string, document map[string]any) []any {
	var path []any
	var at any = document
	for text != "" {
		if text[0] == '.' {
			text = text[1:]
			continue
		}
		var step any
		if text[0] == '[' {
			end := strings.IndexByte(text, ']')
			if end < 0 {
				break
			}
			step = inBrackets(text[1:end], at)
			text = text[end+1:]
		} else {
			end := strings.IndexAny(text, ".[")
			if end < 0 {
				end = len(text)
			}
			step, text = text[:end], text[end:]
		}
		path = append(path, step)
		at = stepInto(at, step)
	}
	return path
}

// inBrackets is a list index, a map key, or the item whose keys are given.
func inBrackets(text string, at any) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	list, ok := at.([]any)
	if !ok {
		return strings.Trim(text, `"`)
	}
	for i, item := range list {
		if m, ok := item.(map[string]any); ok && hasKeys(m, text) {
			return i
		}
	}
	return text
}

// hasKeys reports whether an item has the keys name="x",port=80.
func hasKeys(item map[string]any, keys string) bool {
	for _, pair := range strings.Split(keys, ",") {
		key, value, _ := strings.Cut(pair, "=")
		if v, given := item[key]; given && fmt.Sprint(v) != strings.Trim(value, `"`) {
			return false
		}
	}
	return true
}

func stepInto(at, step any) any {
	switch step := step.(type) {
	case string:
		m, _ := at.(map[string]any)
		return m[step]
	case int:
		if list, _ := at.([]any); step >= 0 && step < len(list) {
			return list[step]
		}
	}
	return nil
}

func shownPath(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if strings.ContainsAny(step, "./") {
				fmt.Fprintf(&b, "[%s]", step)
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}
