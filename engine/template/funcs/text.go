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
	"initials": firstLetters,
	"nospace":  noSpace,
	"repeat":   repeatText,
	"replace":  replaceText,
	"indent":   indentText,
	"nindent":  indentOnNewLine,
	"quote":    sized{1, -1, quoteText},
	"squote":   sized{1, -1, quoteSingle},
}

// firstLetters gives the first letter of each word.
func firstLetters(s string) string {
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

func repeatText(lim Limits, count int64, s string) (string, error) {
	if count < 0 {
		return "", wrapArgument(0, errors.New("must not be negative"))
	}
	if err := fitsBytes(multiplyLengths(int(count), len(s)), lim); err != nil {
		return "", err
	}
	return strings.Repeat(s, int(count)), nil
}

func replaceText(lim Limits, from, to, s string) (string, error) {
	n := addLengths(len(s), multiplyLengths(strings.Count(s, from), len(to)))
	if err := fitsBytes(n-strings.Count(s, from)*len(from), lim); err != nil {
		return "", err
	}
	return strings.ReplaceAll(s, from, to), nil
}

func indentText(lim Limits, spaces int64, s string) (string, error) {
	return indentAfter(lim, "", spaces, s)
}

func indentOnNewLine(lim Limits, spaces int64, s string) (string, error) {
	return indentAfter(lim, "\n", spaces, s)
}

func indentAfter(lim Limits, lead string, spaces int64, s string) (string, error) {
	if spaces < 0 {
		return "", wrapArgument(0, errors.New("must not be negative"))
	}
	lines := strings.Count(s, "\n") + 1
	n := addLengths(len(lead)+len(s), multiplyLengths(lines, int(spaces)))
	if err := fitsBytes(n, lim); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", int(spaces))
	return lead + pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// quoteText puts text within double quotes, with Go's escapes, which YAML knows
// too. Nothing stays nothing.
func quoteText(lim Limits, args ...any) (any, error) {
	return quoteAll(lim, args, strconv.Quote)
}

// quoteSingle puts text within single quotes. Nothing stays nothing.
func quoteSingle(lim Limits, args ...any) (any, error) {
	return quoteAll(lim, args, func(s string) string { return "'" + s + "'" })
}

func quoteAll(lim Limits, args []any, mark func(string) string) (any, error) {
	if len(args) == 1 && args[0] == nil {
		return nil, nil
	}
	var out []byte
	for i, arg := range args {
		if arg == nil {
			return nil, wrapArgument(i, errNothing)
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
