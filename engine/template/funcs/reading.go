package funcs

import (
	"errors"
	"fmt"
)

var readFuncs = map[string]any{
	"len":    lengthOf,
	"index":  sized{1, -1, indexValue},
	"get":    getKey,
	"hasKey": hasKey,
	"dig":    sized{3, -1, digValue},
}

// lengthOf counts bytes, items or entries; nothing has none.
func lengthOf(v any) (int, error) {
	switch v := v.(type) {
	case nil:
		return 0, nil
	case string:
		return len(v), nil
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	}
	return 0, wrapArgument(0, mustBe("a string, a list or a map", v))
}

// indexValue goes down into maps and lists. What is not there is nothing.
func indexValue(args ...any) (any, error) {
	v := args[0]
	for i, at := range args[1:] {
		switch in := v.(type) {
		case nil:
			return nil, nil
		case map[string]any:
			key, ok := at.(string)
			if !ok {
				return nil, wrapArgument(i+1, mustBe("a string, the key of a map", at))
			}
			v = in[key]
		case []any:
			n, err := readInteger(at)
			if err != nil {
				return nil, wrapArgument(i+1, err)
			}
			if n < 0 {
				return nil, wrapArgument(i+1, errNegative)
			}
			v = nil
			if n < int64(len(in)) {
				v = in[n]
			}
		default:
			return nil, wrapArgument(i+1, fmt.Errorf("looks into %s; only lists and maps have parts", kindName(v)))
		}
	}
	return v, nil
}

func getKey(m map[string]any, key string) any { return m[key] }

func hasKey(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}

// digValue goes down the keys into the last argument; where that leads to nothing
// it gives the last but one.
func digValue(args ...any) (any, error) {
	keys, fallback, v := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
	if _, ok := v.(map[string]any); !ok && v != nil {
		return nil, wrapArgument(len(args)-1, mustBe("a map", v))
	}
	for i, arg := range keys {
		key, ok := arg.(string)
		if !ok {
			return nil, wrapArgument(i, mustBe("a string", arg))
		}
		m, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, wrapArgument(i, errors.New("looks into "+kindName(v)+"; only maps have keys"))
		}
		v = m[key]
	}
	return ifNil(fallback, v), nil
}
