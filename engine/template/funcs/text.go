package funcs

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var textFuncs = map[string]any{
	"trim":     strings.TrimSpace,
	"initials": initials,
	"nospace":  noSpace,
	"repeat":   repeat,
	"replace":  replace,
	"indent":   indent,
	"nindent":  nindent,
	"quote":    sized{1, -1, quote},
	"squote":   sized{1, -1, squote},
}

// initials gives the first letter of each word.
func initials(s string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(s, unicode.IsSpace) {
		r, _ := utf8.DecodeRuneInString(word)
		out.WriteRune(r)
	}
	return out.String()
}

// noSpace leaves out blanks of all sorts. Sprig's breaks what is not ASCII.
func noSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func repeat(lim Limits, count int64, s string) (string, error) {
	if count < 0 {
		return "", argument(0, errors.New("must not be negative"))
	}
	if err := fitsBytes(times(int(count), len(s)), lim); err != nil {
		return "", err
	}
	return strings.Repeat(s, int(count)), nil
}

func replace(lim Limits, from, to, s string) (string, error) {
	n := plus(len(s), times(strings.Count(s, from), len(to)))
	if err := fitsBytes(n-strings.Count(s, from)*len(from), lim); err != nil {
		return "", err
	}
	return strings.ReplaceAll(s, from, to), nil
}

func indent(lim Limits, spaces int64, s string) (string, error) {
	return indentAfter(lim, "", spaces, s)
}

func nindent(lim Limits, spaces int64, s string) (string, error) {
	return indentAfter(lim, "\n", spaces, s)
}

func indentAfter(lim Limits, lead string, spaces int64, s string) (string, error) {
	if spaces < 0 {
		return "", argument(0, errors.New("must not be negative"))
	}
	lines := strings.Count(s, "\n") + 1
	n := plus(len(lead)+len(s), times(lines, int(spaces)))
	if err := fitsBytes(n, lim); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", int(spaces))
	return lead + pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// quote puts text within double quotes, with Go's escapes, which YAML knows
// too. Nothing stays nothing.
func quote(lim Limits, args ...any) (any, error) {
	return quoted(lim, args, strconv.Quote)
}

// squote puts text within single quotes. Nothing stays nothing.
func squote(lim Limits, args ...any) (any, error) {
	return quoted(lim, args, func(s string) string { return "'" + s + "'" })
}

func quoted(lim Limits, args []any, mark func(string) string) (any, error) {
	if len(args) == 1 && args[0] == nil {
		return nil, nil
	}
	var out []byte
	for i, arg := range args {
		if arg == nil {
			return nil, argument(i, errNothing)
		}
		text, err := AppendText(nil, arg, lim)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, mark(string(text))...)
		if err := fitsBytes(len(out), lim); err != nil {
			return nil, err
		}
	}
	return string(out), nil
}
