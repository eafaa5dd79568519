package funcs

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// A jsonMeter counts down the bytes that a value takes as JSON, at least as
// many as it does take, so that nothing large is ever allocated.
type jsonMeter struct {
	left   int
	indent int  // blanks for each level; 0 writes it all in one line
	html   bool // <, > and & are written as \u003c
}

func (m *jsonMeter) takeBytes(n int) error {
	m.left -= n
	if m.left < 0 {
		return errNone
	}
	return nil
}

func (m *jsonMeter) takeValue(v any, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	switch v := v.(type) {
	case nil:
		return m.takeBytes(len("null"))
	case bool:
		return m.takeBytes(len(strconv.FormatBool(v)))
	case int64:
		return m.takeBytes(len(strconv.FormatInt(v, 10)))
	case float64:
		return m.takeBytes(jsonNumber(v))
	case string:
		return m.takeText(v)
	case []any:
		return m.takeList(v, depth)
	case map[string]any:
		return m.takeDict(v, depth)
	}
	return nil
}

// takeSeparator is what stands between two entries: a comma, and a line break with
// its blanks.
func (m *jsonMeter) takeSeparator(depth int) int {
	if m.indent == 0 {
		return 1
	}
	return 2 + depth*m.indent
}

func (m *jsonMeter) takeList(list []any, depth int) error {
	for _, item := range list {
		if err := m.takeBytes(m.takeSeparator(depth)); err != nil {
			return err
		}
		if err := m.takeValue(item, depth+1); err != nil {
			return err
		}
	}
	return m.takeEnd(len(list), depth)
}

func (m *jsonMeter) takeDict(dict map[string]any, depth int) error {
	for key, item := range dict {
		if err := m.takeBytes(m.takeSeparator(depth) + len(": ")); err != nil {
			return err
		}
		if err := m.takeText(key); err != nil {
			return err
		}
		if err := m.takeValue(item, depth+1); err != nil {
			return err
		}
	}
	return m.takeEnd(len(dict), depth)
}

// takeEnd takes the brackets; the last entry has no comma.
func (m *jsonMeter) takeEnd(entries, depth int) error {
	if entries == 0 {
		return m.takeBytes(len("[]"))
	}
	if m.indent == 0 {
		return m.takeBytes(len("[]") - 1)
	}
	return m.takeBytes(len("[]\n") - 1 + (depth-1)*m.indent)
}

func (m *jsonMeter) takeText(s string) error {
	if err := m.takeBytes(len(s) + len(`""`)); err != nil {
		return err
	}
	more := 0
	for i, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
			more++
		case r < ' ' || m.html && (r == '<' || r == '>' || r == '&'):
			more += len(`\u0000`) - 1
		case r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			_, size := utf8.DecodeRuneInString(s[i:])
			more += len(`\u2028`) - size
		}
		if more > m.left {
			return errNone
		}
	}
	return m.takeBytes(more)
}

// jsonNumber is the length of a number as JSON, or a few bytes more: from 1e21
// on, and below 1e-6, it is written with an exponent.
func jsonNumber(f float64) int {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return len(strconv.FormatFloat(f, format, -1, 64))
}
