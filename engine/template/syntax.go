package template

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

var syntaxMessage = regexp.MustCompile(`(?s)^template: .*?:(\d+): (.*)$`)
var quotedToken = regexp.MustCompile(`"([^"]+)"|<([^<>]+)>|\{\{(\w+)`)

// syntaxError gives the parser's error, which knows only its line, a column:
// that of the token it quotes, or else of the last action on the line.
func syntaxError(src *source, err error) error {
	m := syntaxMessage.FindStringSubmatch(err.Error())
	if m == nil {
		return pos{src, 0}.wrapError(err)
	}
	if m[2] == "unexpected EOF" {
		if open := findUnclosed(src.text); open.word != "" {
			return pos{src, open.off}.errorAt("this %s is not closed: add {{ end }}", open.word)
		}
	}
	line, _ := strconv.Atoi(m[1])
	lines := strings.SplitAfter(src.text, "\n")
	line = min(max(line, 1), len(lines))
	start := len(strings.Join(lines[:line-1], ""))
	column, text := findSlip(m[2], lines[line-1])
	if text == "" {
		column, text = columnOf(m[2], lines[line-1]), plainSyntax(m[2], lines[line-1])
	}
	place := pos{src, start + column}
	return &Error{Place: place.toPlace(), Quote: shortenQuote(strings.TrimSpace(lines[line-1])), Err: errors.New(text)}
}

// columnOf is where on a line the token stands that the parser's message quotes, or else
// the last action.
func columnOf(message, line string) int {
	for _, token := range quotedToken.FindAllStringSubmatch(message, -1) {
		if i := strings.Index(line, token[1]+token[2]+token[3]); i >= 0 && token[1]+token[2]+token[3] != "" {
			return i
		}
	}
	return max(strings.LastIndex(line, "{{"), 0)
}

// operators of other languages, and the functions that do the same.
var operators = []struct{ sign, instead string }{
	{"==", "eq a b"}, {"!=", "ne a b"}, {">=", "ge a b"}, {"<=", "le a b"}, {"&&", "and a b"}, {"||", "or a b"},
	{">", "gt a b"}, {"<", "lt a b"}, {"!", "not a"}, {" ? ", "ternary yes no cond"}, {" + ", "add a b"}, {" - ", "sub a b"},
	{" * ", "mul a b"}, {" / ", "div a b"},
}

// plainSyntax adds advice to the parser's message about a line.
func plainSyntax(message, line string) string {
	switch {
	case strings.Contains(message, "unexpected {{end}}"):
		return "there is one {{ end }} too many, or an `if`, `with` or `range` is missing before it"
	case strings.Contains(message, "unexpected {{else}}"):
		return "{{ else }} without an `if`, `with` or `range` before it"
	case strings.Contains(message, "unclosed action"):
		return "unclosed action: add }}"
	}
	for action := range strings.SplitSeq(line, "{{") {
		inside, _, _ := strings.Cut(action, "}}")
		inside = quotedText.ReplaceAllString(inside, "")
		for _, o := range operators {
			if strings.Contains(inside, o.sign) && strings.Contains(message, strings.TrimSpace(o.sign)[:1]) {
				return message + "; there are no operators: instead of " + strings.TrimSpace(o.sign) + " write " + o.instead
			}
		}
	}
	return message
}

var quotedText = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

// An opener is an action that needs an end.
type opener struct {
	word   string
	off    int
	indent int // -1 if text stands before it on its line
}

var actions = regexp.MustCompile("(?s)\\{\\{-?\\s*(?:/\\*.*?\\*/|(\\w*)(?:\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|[^\"`])*?)\\s*-?\\}\\}")

// findUnclosed finds the action without an end of a text that has too few: that whose end stands
// further left than itself, or else the last that is open.
func findUnclosed(text string) opener {
	var open []opener
	var suspect opener
	for _, m := range actions.FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 {
			continue
		}
		at := opener{word: text[m[2]:m[3]], off: m[2], indent: indentOf(text, m[0])}
		switch at.word {
		case "if", "with", "range", "define", "block":
			open = append(open, at)
		case "end":
			if len(open) == 0 {
				continue
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			if suspect.word == "" && at.indent >= 0 && at.indent < last.indent {
				suspect = last
			}
		}
	}
	switch {
	case len(open) == 0:
		return opener{}
	case suspect.word != "":
		return suspect
	}
	return open[len(open)-1]
}

// indentOf is how many blanks stand before off on its line, -1 if there is
// anything else.
func indentOf(text string, off int) int {
	line := text[strings.LastIndexByte(text[:off], '\n')+1 : off]
	if strings.Trim(line, " ") != "" {
		return -1
	}
	return len(line)
}
