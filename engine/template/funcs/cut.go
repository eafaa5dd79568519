package funcs

import (
	"errors"
	"unicode/utf8"
)

var cutFuncs = map[string]any{
	"trunc":     trunc,
	"substr":    substr,
	"slice":     sized{1, 3, slice},
	"mustSlice": sized{1, 3, slice},
}

// trunc keeps the first count bytes of a text, or the last -count.
func trunc(count int64, s string) string {
	n := int64(len(s))
	switch {
	case count < 0 && n+count > 0:
		return s[start(s, int(n+count)):]
	case count >= 0 && n > count:
		return s[:end(s, int(count))]
	}
	return s
}

// substr keeps the bytes from one position to before another; a negative from
// is 0, a negative to the end.
func substr(from, to int64, s string) (string, error) {
	n := int64(len(s))
	if from < 0 {
		from = 0
		if to < 0 {
			return "", argument(1, errors.New("must not be negative where argument 1 is"))
		}
	}
	if to < 0 || to > n {
		to = n
	}
	if from > to {
		return "", argument(0, errors.New("is beyond the end"))
	}
	a := start(s, int(from))
	return s[a:max(a, end(s, int(to)))], nil
}

// start moves a position forward, out of the character that it is within.
func start(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// end moves a position back, out of the character that it is within.
func end(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// slice keeps the items of a list, or the bytes of a text, from one position
// to before another. Of nothing it keeps nothing.
func slice(v any, at ...int64) (any, error) {
	var n int64
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		n = int64(len(v))
	case string:
		n = int64(len(v))
	default:
		return nil, argument(0, mustBe("a list or a string", v))
	}
	from, to := int64(0), n
	if len(at) > 0 {
		from = at[0]
	}
	if len(at) > 1 {
		to = at[1]
	}
	switch {
	case from < 0 || from > n:
		return nil, argument(1, errors.New("is beyond the end, or negative"))
	case to < from || to > n:
		return nil, argument(2, errors.New("is beyond the end, or before argument 2"))
	}
	if list, ok := v.([]any); ok {
		return list[from:to:to], nil
	}
	return substr(from, to, v.(string))
}
