package template

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// yamlError gives the parser's error, which knows little more than the block
// that it was in, a place: that of the first thing there that does not fit.
func yamlError(text string, err error) error {
	m := yamlMessage.FindStringSubmatch(err.Error())
	if m == nil {
		return &shapeError{1, 1, err}
	}
	line, _ := strconv.Atoi(m[1])
	line = max(line, 1)
	message := anyHole.ReplaceAllString(m[2], "{{…}}")
	lines := strings.Split(text, "\n")
	if found := findMismatch(lines, line); found.advice != "" {
		return &shapeError{found.line, found.column, errors.New(found.advice + " (" + message + ")")}
	}
	column := 1
	if line <= len(lines) {
		column = countBlanks(lines[line-1]) + 1
	}
	return &shapeError{line, column, errors.New(message)}
}

// A mismatch is a likely cause of a YAML error. Line and column count from 1.
type mismatch struct {
	line, column int
	advice       string
}

const (
	adviceTabs   = "YAML is indented with blanks, never tabs"
	adviceIndent = "check the indentation: this line is neither beside nor below another"
	adviceDeeper = "check the indentation: this line stands below one that has a value already"
)

// findMismatch reads a text that is no YAML, line by line. What is misindented
// before the line from is none, for the parser got past it.
func findMismatch(lines []string, from int) mismatch {
	var s blockScan
	var flow flowScan
	open, value := []int{0}, false
	for i, line := range lines {
		if s.readLine([]byte(line)) {
			continue
		}
		bare := strings.TrimLeft(line, " ")
		inside := flow.isOpen()
		if strings.HasPrefix(bare, "\t") && !inside {
			return mismatch{i + 1, 1, adviceTabs}
		}
		if strings.TrimSpace(bare) == "" || bare[0] == '#' {
			continue
		}
		if !inside {
			if strings.HasPrefix(bare, "---") {
				open, value = []int{0}, false
				continue
			}
			if advice := sameIndent(&open, bare, countBlanks(line), value); advice != "" && i+1 >= from {
				return mismatch{i + 1, countBlanks(line) + 1, advice}
			}
			value = hasValue(bare)
		}
		if junk := flow.read(line, i+1); junk.advice != "" {
			return junk
		}
	}
	return flow.findUnclosed()
}

// sameIndent says what is wrong with the indentation of a line, and keeps the
// columns at which further lines may begin.
func sameIndent(open *[]int, bare string, n int, value bool) string {
	cols := *open
	top := cols[len(cols)-1]
	for len(cols) > 1 && cols[len(cols)-1] > n {
		cols = cols[:len(cols)-1]
	}
	advice := ""
	switch last := cols[len(cols)-1]; {
	case n > top && value && keyLine.MatchString(bare):
		advice = adviceDeeper
	case n > last && n < top:
		advice = adviceIndent
	case n > last:
		cols = append(cols, n)
	}
	for strings.HasPrefix(bare, "- ") {
		rest := strings.TrimLeft(bare[1:], " ")
		n += len(bare) - len(rest)
		cols = append(cols, n)
		bare = rest
	}
	*open = cols
	return advice
}

var keyLine = regexp.MustCompile(`^(?:- +)*(?:"[^"]*"|'[^']*'|[^\s"'#\[\]{}][^#]*?):(?:\s|$)`)

// hasValue reports whether a line is a key with a value, so that nothing stands
// below it.
func hasValue(bare string) bool {
	at := keyLine.FindStringIndex(bare)
	if at == nil {
		return false
	}
	rest := strings.TrimSpace(bare[at[1]:])
	return rest != "" && rest[0] != '#' && rest[0] != '|' && rest[0] != '>' && rest[0] != '&' && rest[0] != '!'
}

// countBlanks returns how many blanks a line begins with.
func countBlanks(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// A flowScan follows brackets and quotes over lines.
type flowScan struct {
	stack []flowMark
	quote flowMark // sign is 0 outside of quotes
}

type flowMark struct {
	sign         byte
	line, column int
}

// isOpen reports whether a bracket or a quote is open.
func (f *flowScan) isOpen() bool { return len(f.stack) > 0 || f.quote.sign != 0 }

// read goes through a line; it returns what surely is wrong in it.
func (f *flowScan) read(line string, number int) mismatch {
	started := f.quote.sign == 0 // where a value may begin
	column := 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		if utf8.RuneStart(c) {
			column++
		}
		if q := f.quote; q.sign != 0 {
			switch {
			case c == '\\' && q.sign == '"':
				i, column = i+1, column+1
			case c == q.sign && q.sign == '\'' && i+1 < len(line) && line[i+1] == '\'':
				i, column = i+1, column+1
			case c == q.sign:
				f.quote = flowMark{}
				if rest := strings.TrimSpace(line[i+1:]); q.line != number && rest != "" && !strings.ContainsRune(",]}:#", rune(rest[0])) {
					return mismatch{q.line, q.column, "close the " + string(q.sign)}
				}
			}
			continue
		}
		here := flowMark{c, number, column}
		switch {
		case c == '#' && (i == 0 || line[i-1] == ' '):
			return mismatch{}
		case (c == '"' || c == '\'') && started:
			f.quote = here
		case (c == '[' || c == '{') && started:
			f.stack = append(f.stack, here)
			continue
		case (c == ']' || c == '}') && len(f.stack) > 0:
			last := f.stack[len(f.stack)-1]
			if c != last.sign+2 {
				return mismatch{last.line, last.column, "close the " + string(last.sign)}
			}
			f.stack = f.stack[:len(f.stack)-1]
		}
		flowSign := len(f.stack) > 0 && (c == ',' || c == ':')
		started = flowSign || c == ' ' && (started || i > 0 && (line[i-1] == ':' || line[i-1] == '-'))
	}
	return mismatch{}
}

// findUnclosed returns what is open at the end.
func (f *flowScan) findUnclosed() mismatch {
	if q := f.quote; q.sign != 0 {
		return mismatch{q.line, q.column, "close the " + string(q.sign)}
	}
	if len(f.stack) > 0 {
		last := f.stack[len(f.stack)-1]
		return mismatch{last.line, last.column, "close the " + string(last.sign)}
	}
	return mismatch{}
}

// inFlow reports whether a line has come to a value within brackets.
func inFlow(prefix []byte) bool {
	var f flowScan
	f.read(string(prefix), 1)
	return f.quote.sign == 0 && len(f.stack) > 0
}
