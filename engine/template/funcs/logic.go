package funcs

import "errors"

var logicFuncs = map[string]any{
	"not":      func(v any) bool { return isEmpty(v) },
	"empty":    isEmpty,
	"default":  sized{1, 2, orDefault},
	"ifNil":    ifNil,
	"coalesce": coalesceValues,
	"ternary":  chooseValue,
	"all":      allOf,
	"any":      anyOf,
}

// isEmpty reports whether a value is nothing, false, 0, "" or an empty collection.
// It is the opposite of what if takes for true.
func isEmpty(v any) bool {
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
	if len(args) < 2 || isEmpty(args[1]) {
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

func coalesceValues(args ...any) any {
	for _, v := range args {
		if !isEmpty(v) {
			return v
		}
	}
	return nil
}

func chooseValue(yes, no any, which truth) any {
	if which {
		return yes
	}
	return no
}

func allOf(args ...any) bool {
	for _, v := range args {
		if isEmpty(v) {
			return false
		}
	}
	return true
}

func anyOf(args ...any) bool {
	for _, v := range args {
		if !isEmpty(v) {
			return true
		}
	}
	return false
}

var errNegative = errors.New("must not be negative")
