package template

import (
	"fmt"
	"strings"
)

// nested bounds how deep actions and parentheses may be nested, and how long a
// chain of `else if` may be: each is a recursion of whoever follows the tree,
// the parser first, and Go ends the whole process where a stack is exhausted.
const nested = 500

// A nest counts how deep a text is nested, as far as it was read.
type nest struct {
	// open are the actions without an end yet, each as many as it and its chain.
	open  []int
	depth int
	// brackets are the parentheses that are open in the action.
	brackets int
}

// checkNesting refuses what is nested too deep, before anything recurses.
func (src *source) checkNesting() error {
	n, text := nest{}, src.text
	for at := 0; ; {
		begin := strings.Index(text[at:], "{{")
		if begin < 0 {
			return nil
		}
		at += begin
		rest := strings.TrimPrefix(text[at+2:], "-")
		if body := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(body, "/*") {
			_, after, _ := strings.Cut(body, "*/")
			at = len(text) - len(after)
			continue
		}
		after := n.readAction(strings.TrimLeft(rest, " \t\r\n"))
		if n.depth > nested || n.brackets > nested {
			return pos{src, at}.wrapError(fmt.Errorf("this is nested more than %d deep: %w", nested, ErrBudget))
		}
		at = len(text) - len(after)
	}
}

// readAction reads one action and returns the text behind it.
func (n *nest) readAction(text string) string {
	word := text[:len(text)-len(strings.TrimLeft(text, "abcdefghijklmnopqrstuvwxyz"))]
	switch word {
	case "if", "with", "range", "define", "block":
		n.open = append(n.open, 1)
		n.depth++
	case "else":
		chained := strings.TrimLeft(text[len(word):], " \t\r\n")
		if len(n.open) > 0 && (strings.HasPrefix(chained, "if") || strings.HasPrefix(chained, "with")) {
			n.open[len(n.open)-1]++
			n.depth++
		}
	case "end":
		if last := len(n.open) - 1; last >= 0 {
			n.depth -= n.open[last]
			n.open = n.open[:last]
		}
	}
	return n.readBrackets(text)
}

// readBrackets counts the parentheses of an action and returns the text behind it.
func (n *nest) readBrackets(text string) string {
	n.brackets = 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(':
			if n.brackets++; n.brackets > nested {
				return ""
			}
		case ')':
			n.brackets--
		case '"', '\'', '`':
			i += quotedEnd(text[i+1:], c)
		case '}':
			if strings.HasPrefix(text[i:], "}}") {
				return text[i+2:]
			}
		}
	}
	return ""
}

// quotedEnd is how many bytes there are up to the quote that ends a quoted text,
// with it.
func quotedEnd(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i + 1
		case text[i] == '\\' && quote != '`':
			i++
		}
	}
	return len(text)
}
