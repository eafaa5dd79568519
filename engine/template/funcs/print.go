package funcs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

var printFuncs = map[string]any{
	"print":   printAll,
	"println": printLine,
	"printf":  formatText,
}

// printAll joins values; blanks go between two that are both no text.
func printAll(lim Limits, args ...some) (string, error) {
	var out []byte
	wasText := true
	for i, arg := range args {
		_, isText := arg.(string)
		if i > 0 && !isText && !wasText {
			out = append(out, ' ')
		}
		wasText = isText
		var err error
		if out, err = AppendText(out, arg, lim); err != nil {
			return "", err
		}
	}
	return string(out), nil
}

// printLine joins values with blanks and ends the line.
func printLine(lim Limits, args ...some) (string, error) {
	text, err := withBlanks(lim, args)
	if err != nil {
		return "", err
	}
	return text + "\n", nil
}

// withBlanks are values as text with a blank between each two.
func withBlanks(lim Limits, args []some) (string, error) {
	var out []byte
	for i, arg := range args {
		if i > 0 {
			out = append(out, ' ')
		}
		var err error
		if out, err = AppendText(out, arg, lim); err != nil {
			return "", err
		}
	}
	return string(out), nil
}

// AppendText appends a value as fmt prints it with %v, and stops at the limit
// of bytes.
func AppendText(out []byte, v any, lim Limits) ([]byte, error) {
	return appendDeep(out, v, lim, 0)
}

func appendDeep(out []byte, v any, lim Limits, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	switch v := v.(type) {
	case nil:
		out = append(out, "<nil>"...)
	case bool:
		out = strconv.AppendBool(out, v)
	case int64:
		out = strconv.AppendInt(out, v, 10)
	case float64:
		out = fmt.Append(out, v)
	case string:
		if len(out)+len(v) > lim.Bytes {
			return nil, tooLong(math.MaxInt, lim)
		}
		out = append(out, v...)
	case []any:
		return appendList(out, v, lim, depth)
	case map[string]any:
		return appendMap(out, v, lim, depth)
	}
	return out, fitsAppended(out, lim)
}

// fitsAppended is for text whose final length is not known.
func fitsAppended(out []byte, lim Limits) error {
	if len(out) > lim.Bytes {
		return tooLong(math.MaxInt, lim)
	}
	return nil
}

func appendList(out []byte, list []any, lim Limits, depth int) ([]byte, error) {
	out = append(out, '[')
	for i, item := range list {
		if i > 0 {
			out = append(out, ' ')
		}
		var err error
		if out, err = appendDeep(out, item, lim, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendMap(out []byte, m map[string]any, lim Limits, depth int) ([]byte, error) {
	out = append(out, "map["...)
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			out = append(out, ' ')
		}
		var err error
		if out, err = appendDeep(out, key, lim, depth+1); err != nil {
			return nil, err
		}
		out = append(out, ':')
		if out, err = appendDeep(out, m[key], lim, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}
