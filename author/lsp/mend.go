package lsp

import (
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"
)

// An action is one {{ … }} of a text that may be half typed.
type action struct {
	// from and to are where it begins and ends, in bytes; closed is false if it has no }}.
	from, to int
	closed   bool
	// word is the first word in it, such as range; comment is true for {{/* … */}}.
	word    string
	comment bool
}

// innerText returns the text between the braces.
func (a action) innerText(text string) string {
	end := a.to
	if a.closed {
		end -= 2
	}
	return text[a.from+2 : max(end, a.from+2)]
}

var firstWord = regexp.MustCompile(`^-?\s*(\w*)`)

// actionsOf finds the actions of a text. One that is not closed ends before the next one
// begins, and before the line ends within quotation marks.
func actionsOf(text string) []action {
	var all []action
	for at := 0; ; {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			return all
		}
		a := action{from: at + i}
		body := text[a.from+2:]
		if lead := strings.TrimLeft(strings.TrimPrefix(body, "-"), " \t"); strings.HasPrefix(lead, "/*") {
			a.comment = true
		}
		a.to, a.closed = endOf(text, a.from+2, a.comment)
		a.word = firstWord.FindStringSubmatch(a.innerText(text))[1]
		all = append(all, a)
		at = a.to
	}
}

// endOf is where an action ends whose inside begins at a byte.
func endOf(text string, at int, comment bool) (end int, closed bool) {
	if comment {
		if i := strings.Index(text[at:], "*/"); i >= 0 {
			at += i
		}
	}
	var quote byte
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case quote == '`' && c == '`', quote != 0 && quote != '`' && c == quote:
			quote = 0
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && quote != '`' && c == '\n':
			return i, false
		case quote != 0:
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case strings.HasPrefix(text[i:], "}}"):
			return i + 2, true
		case strings.HasPrefix(text[i:], "{{"):
			if line := strings.IndexByte(text[at:i], '\n'); line >= 0 {
				return at + line, false
			}
			return i, false
		}
	}
	if line := strings.IndexByte(text[at:], '\n'); line >= 0 {
		return at + line, false
	}
	return len(text), false
}

// parseError returns why a text does not parse as a template, or nil if it does.
func parseError(text string) error {
	tree := parse.New("t")
	tree.Mode = parse.SkipFuncCheck
	_, err := tree.Parse(text, "", "", map[string]*parse.Tree{})
	return err
}

var variableName = regexp.MustCompile(`\$\w+`)

// isSound reports whether an action parses by itself.
func (a action) isSound(text string) bool {
	if !a.closed {
		return false
	}
	alone, before := text[a.from:a.to], ""
	for _, name := range variableName.FindAllString(a.innerText(text), -1) {
		before += "{{" + name + " := 1}}"
	}
	switch a.word {
	case "if", "with", "range", "define", "block":
		if a.word == "define" {
			before = ""
		}
		return parseError(before+alone+"{{end}}") == nil
	case "else":
		return parseError(before+"{{if 1}}"+alone+"{{end}}") == nil
	case "end":
		return parseError("{{if 1}}"+alone) == nil
	case "break", "continue":
		return parseError("{{range .}}"+alone+"{{end}}") == nil
	}
	return parseError(before+alone) == nil
}

// mendText returns a text that parses, in which everything keeps its place. It blanks broken
// actions, and closes open ones at the end.
func mendText(text string) string {
	if parseError(text) == nil {
		return text
	}
	bad := map[int]bool{}
	actions := actionsOf(text)
	for _, a := range actions {
		bad[a.from] = !a.isSound(text)
	}
	for range mostMends {
		out := mendStructure(text, actions, bad)
		err := parseError(out)
		if err == nil {
			return out
		}
		if !markFaulty(text, actions, bad, err) {
			break
		}
	}
	return blankOut(text, 0, len(text))
}

// mostMends bounds how many further actions are blanked.
const mostMends = 20

// mendStructure blanks bad actions with what belongs to them, and closes the rest.
func mendStructure(text string, actions []action, bad map[int]bool) string {
	out := text
	type opened struct{ dropped, elsed bool }
	var open []opened
	for _, a := range actions {
		drop := bad[a.from]
		switch a.word {
		case "if", "with", "range", "define", "block":
			open = append(open, opened{dropped: drop})
		case "else":
			if len(open) == 0 || open[len(open)-1].dropped || open[len(open)-1].elsed {
				drop = true
			} else if strings.TrimSpace(strings.Trim(a.innerText(text), "-")) == "else" {
				open[len(open)-1].elsed = !drop
			}
		case "end":
			if len(open) == 0 {
				drop = true
			} else if !drop {
				drop = open[len(open)-1].dropped
				open = open[:len(open)-1]
			}
		}
		if drop {
			out = blankOut(out, a.from, a.to)
		}
	}
	for i := len(open) - 1; i >= 0; i-- {
		if !open[i].dropped {
			out += "{{end}}"
		}
	}
	return out
}

var errorLine = regexp.MustCompile(`^template: t:(\d+):`)

// markFaulty marks an action that causes an error, such as the use of a variable whose declaration
// is broken. It returns false if there is none.
func markFaulty(text string, actions []action, bad map[int]bool, err error) bool {
	m := errorLine.FindStringSubmatch(err.Error())
	name := variableName.FindString(err.Error())
	if m == nil {
		return false
	}
	last := -1
	for _, a := range actions {
		if bad[a.from] {
			continue
		}
		at, _ := strconv.Atoi(m[1]) // digits, by the expression
		onLine := at >= lineAt(text, a.from) && at <= lineAt(text, a.to)
		if onLine && (name == "" || strings.Contains(a.innerText(text), name)) {
			last = a.from
			if name != "" {
				break
			}
		}
	}
	if last < 0 {
		return false
	}
	bad[last] = true
	return true
}

// lineAt is the line of a byte, counted from 1.
func lineAt(text string, offset int) int {
	return strings.Count(text[:min(offset, len(text))], "\n") + 1
}

// blankOut replaces a part of a text by blanks. It keeps the lines.
func blankOut(text string, from, to int) string {
	return text[:from] + strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, padToBytes(text[from:to])) + text[to:]
}

// padToBytes returns a text with as many characters as the given one has bytes.
func padToBytes(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c >= 0x80 {
			out[i] = ' '
		}
	}
	return string(out)
}
