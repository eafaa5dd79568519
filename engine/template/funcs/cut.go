package funcs

import (
	"errors"
	"unicode/utf8"
)

var cutFuncs = map[string]any{
	"trunc":     truncateText,
	"substr":    substringOf,
	"slice":     sized{1, 3, sliceValue},
	"mustSlice": sized{1, 3, sliceValue},
}

// truncateText keeps the first count bytes of a text, or the last -count.
func truncateText(count int64, s string) string {
	n := int64(len(s))
	switch {
	case count < 0 && n+count > 0:
		return s[alignStart(s, int(n+count)):]
	case count >= 0 && n > count:
		return s[:alignEnd(s, int(count))]
	}
	return s
}

// substringOf keeps the bytes from one position to before another; a negative from
// is 0, a negative to the end.
func substringOf(from, to int64, s string) (string, error) {
	n := int64(len(s))
	if from < 0 {
		from = 0
		if to < 0 {
			return "", wrapArgument(1, errors.New("must not be negative where argument 1 is"))
		}
	}
	if to < 0 || to > n {
		to = n
	}
	if from > to {
		return "", wrapArgument(0, errors.New("is beyond the end"))
	}
	a := alignStart(s, int(from))
	return s[a:max(a, alignEnd(s, int(to)))], nil
}

// alignStart moves a position forward, out of the character that it is within.
func alignStart(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}

// alignEnd moves a position back, out of the character that it is within.
func alignEnd(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// sliceValue keeps the items of a list, or the bytes of a text, from one position
// to before another. Of nothing it keeps nothing.
func sliceValue(v any, at ...int64) (any, error) {
	var n int64
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		n = int64(len(v))
	case string:
		n = int64(len(v))
	default:
		return nil, wrapArgument(0, mustBe("a list or a string", v))
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
		return nil, wrapArgument(1, errors.New("is beyond the end, or negative"))
	case to < from || to > n:
		return nil, wrapArgument(2, errors.New("is beyond the end, or before argument 2"))
	}
	if list, ok := v.([]any); ok {
		return list[from:to:to], nil
	}
	return substringOf(from, to, v.(string))
}
