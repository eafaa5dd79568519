package funcs

import "errors"

var logicFuncs = map[string]any{
	"not":      func(v any) bool { return empty(v) },
	"empty":    empty,
	"default":  sized{1, 2, orDefault},
	"ifNil":    ifNil,
	"coalesce": coalesce,
	"ternary":  ternary,
	"all":      allOf,
	"any":      anyOf,
}

// empty reports whether a value is nothing, false, 0, "" or an empty collection.
// It is the opposite of what if takes for true.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case int64:
		return v == 0
	case float64:
		return v == 0
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// orDefault gives the second argument unless it is empty or left out.
func orDefault(args ...any) any {
	if len(args) < 2 || empty(args[1]) {
		return args[0]
	}
	return args[1]
}

// ifNil gives the second argument unless it is nothing: unlike default it
// keeps false, 0 and "".
func ifNil(fallback, v any) any {
	if v == nil {
		return fallback
	}
	return v
}

func coalesce(args ...any) any {
	for _, v := range args {
		if !empty(v) {
			return v
		}
	}
	return nil
}

func ternary(yes, no any, which truth) any {
	if which {
		return yes
	}
	return no
}

func allOf(args ...any) bool {
	for _, v := range args {
		if empty(v) {
			return false
		}
	}
	return true
}

func anyOf(args ...any) bool {
	for _, v := range args {
		if !empty(v) {
			return true
		}
	}
	return false
}

var errNegative = errors.New("must not be negative")
