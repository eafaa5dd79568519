package chart

import (
	"regexp"
	"strings"
)

// An action is one {{ … }} of a template's text.
type action struct {
	from, to int // byte offsets, the braces included
	// begin and end enclose what stands between braces and trim markers.
	begin, end int
	// word is the first word: if, else, end, define, or any other.
	word                string
	comment             bool
	trimLeft, trimRight bool
}

var firstWord = regexp.MustCompile(`^\s*(\w+)`)

// scanActions returns the actions of a text that parses.
func scanActions(text string) []action {
	var all []action
	for at := 0; ; {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			return all
		}
		a := scanOne(text, at+i)
		all = append(all, a)
		at = a.to
	}
}

func scanOne(text string, from int) action {
	a := action{from: from, begin: from + 2}
	if strings.HasPrefix(text[a.begin:], "-") && a.begin+1 < len(text) && isBlank(text[a.begin+1]) {
		a.trimLeft = true
		a.begin++
	}
	if rest := strings.TrimLeft(text[a.begin:], " \t\r\n"); strings.HasPrefix(rest, "/*") {
		a.comment = true
		a.end = len(text) - len(rest)
		if i := strings.Index(rest, "*/"); i >= 0 {
			a.end += i + 2
		}
		a.to = a.end + strings.Index(text[a.end:], "}}") + 2
		a.trimRight = strings.Contains(text[a.end:a.to], "-")
		return a
	}
	a.end = a.begin
	for a.end < len(text) && !strings.HasPrefix(text[a.end:], "}}") {
		a.end = pastToken(text, a.end)
	}
	a.to = min(a.end+2, len(text))
	if a.end > a.begin+1 && text[a.end-1] == '-' && isBlank(text[a.end-2]) {
		a.trimRight = true
		a.end--
	}
	if m := firstWord.FindStringSubmatch(text[a.begin:a.end]); m != nil {
		a.word = m[1]
	}
	return a
}

// pastToken returns the offset behind the quoted text that begins at off, or
// behind one character.
func pastToken(text string, off int) int {
	mark := text[off]
	if mark != '"' && mark != '`' && mark != '\'' {
		return off + 1
	}
	for i := off + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && mark != '`':
			i++
		case text[i] == mark:
			return i + 1
		}
	}
	return len(text)
}

// isBlank reports whether a byte is a blank or the end of a line.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// A block is the actions of one if, with, range, define or block: the first
// opens it, the last ends it, the others are its elses.
type block []action

// findBlocks returns the blocks of a text by the offset of the action that opens them.
func findBlocks(actions []action) map[int]block {
	all := map[int]block{}
	var open []block
	for _, a := range actions {
		if a.comment {
			continue
		}
		switch a.word {
		case "if", "with", "range", "define", "block":
			open = append(open, block{a})
		case "else", "end":
			if len(open) == 0 {
				continue
			}
			last := len(open) - 1
			open[last] = append(open[last], a)
			if a.word == "end" {
				all[open[last][0].from] = open[last]
				open = open[:last]
			}
		}
	}
	return all
}
