package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A mutant is one file of a kind with one mistake in it.
type mutant struct {
	file, what, text string
}

// An action is {{ … }} in a template: what is between the braces, without trim
// markers.
type action struct {
	from, to int // of all of it
	in, out  int // of what is inside
}

func actions(text string) []action {
	var all []action
	for at := 0; ; {
		from := strings.Index(text[at:], "{{")
		if from < 0 {
			return all
		}
		from += at
		to := from + 2 + endOf(text[from+2:])
		a := action{from: from, to: to + 2, in: from + 2, out: to}
		if strings.HasPrefix(text[a.in:], "- ") {
			a.in++
		}
		if strings.HasSuffix(text[:a.out], " -") {
			a.out--
		}
		at = a.to
		if !strings.HasPrefix(strings.TrimSpace(text[a.in:a.out]), "/*") {
			all = append(all, a)
		}
	}
}

// endOf is where }} stands outside of texts and comments.
func endOf(text string) int {
	if comment := strings.Index(text, "*/"); strings.HasPrefix(strings.TrimLeft(text, "- "), "/*") && comment >= 0 {
		return comment + strings.Index(text[comment:], "}}")
	}
	for _, t := range token.FindAllStringIndex(text, -1) {
		if strings.HasPrefix(text[t[0]:], "}}") {
			return t[0]
		}
	}
	return len(text)
}

// token matches what an action is made of: texts, fields of something, words,
// numbers, and everything else.
var token = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\])*\"|`[^`]*`|\\$?\\w*(?:\\.\\w+)+|\\$\\w*|\\w+|}}|:=|\\s+|.")

// tokens are those of an action, with their offsets in the whole text.
func tokens(text string, a action) [][2]int {
	var all [][2]int
	for _, t := range token.FindAllStringIndex(text[a.in:a.out], -1) {
		all = append(all, [2]int{a.in + t[0], a.in + t[1]})
	}
	return all
}

// misspelt changes each part of each field, one at a time, and each literal key
// of a dict.
func misspelt(file, text string) []mutant {
	var all []mutant
	for _, a := range actions(text) {
		isKey := dictKeys(text, a)
		for _, t := range tokens(text, a) {
			word := text[t[0]:t[1]]
			parts := strings.Split(word, ".")
			switch {
			case isKey[t[0]]:
				key := strings.Trim(word, `"`)
				all = append(all, mutant{file, "misspelt key " + word, text[:t[0]+1] + misspell(key) + text[t[0]+1+len(key):]})
			case strings.Contains(word, ".") && len(word) > 1 && word[0] != '"' && word[0] != '`':
				for i := 1; i < len(parts); i++ {
					changed := slices.Clone(parts)
					changed[i] = misspell(parts[i])
					all = append(all, mutant{file, "misspelt " + strings.Join(changed, "."), text[:t[0]] + strings.Join(changed, ".") + text[t[1]:]})
				}
			}
		}
	}
	return all
}

// misspell swaps two letters as a hand that is too fast does.
func misspell(word string) string {
	for i := len(word) - 1; i > 0; i-- {
		if word[i] != word[i-1] {
			return word[:i-1] + word[i:i+1] + word[i-1:i] + word[i+1:]
		}
	}
	return word + word
}

// dictKeys are the offsets of the literal keys of dict calls.
func dictKeys(text string, a action) map[int]bool {
	keys := map[int]bool{}
	ts := tokens(text, a)
	for i, t := range ts {
		if text[t[0]:t[1]] != "dict" {
			continue
		}
		at := i + 1
		for n := 0; ; n++ {
			next, ok := operand(text, ts, at)
			if !ok {
				break
			}
			if n%2 == 0 && text[ts[next[0]][0]] == '"' {
				keys[ts[next[0]][0]] = true
			}
			at = next[1]
		}
	}
	return keys
}

// operand is the next operand from a token on: the numbers of its first token
// and of the one after it.
func operand(text string, ts [][2]int, at int) (span [2]int, ok bool) {
	word := func(i int) string { return text[ts[i][0]:ts[i][1]] }
	for at < len(ts) && strings.TrimSpace(word(at)) == "" {
		at++
	}
	if at >= len(ts) || strings.Contains("|),:==", word(at)) {
		return span, false
	}
	end, depth := at, 0
	for ; end < len(ts); end++ {
		switch word(end) {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 && (end+1 == len(ts) || !strings.HasPrefix(word(end+1), ".")) {
			return [2]int{at, end + 1}, true
		}
	}
	return span, false
}

// A block is if, with or range, up to its end.
type block struct {
	open  action
	elses []action
	end   action
}

var keyword = regexp.MustCompile(`^\s*(if|with|range|define|block|else|end)\b\s*`)

// blocks are those of a template that branch.
func blocks(text string) []block {
	var all, open []block
	for _, a := range actions(text) {
		m := keyword.FindStringSubmatch(text[a.in:a.out])
		switch {
		case m == nil:
		case m[1] == "else":
			open[len(open)-1].elses = append(open[len(open)-1].elses, a)
		case m[1] == "end":
			last := open[len(open)-1]
			last.end = a
			open, all = open[:len(open)-1], append(all, last)
		default:
			open = append(open, block{open: a})
		}
	}
	return all
}

// silenced is an action as a comment: its trim markers stay.
func silenced(text string, a action) string {
	return text[a.from:a.in] + strings.Repeat(" ", b2i(a.in > a.from+2)) + "/* */" + strings.Repeat(" ", b2i(a.out < a.to-2)) +
		text[a.out:a.to]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unguarded takes each condition away, and what stands in its place otherwise;
// each with, whose value then stands where the dot was; and each fallback.
func unguarded(file, text string) []mutant {
	var all []mutant
	for _, b := range blocks(text) {
		m := keyword.FindStringSubmatchIndex(text[b.open.in:b.open.out])
		word := text[b.open.in+m[2] : b.open.in+m[3]]
		condition := strings.TrimSpace(text[b.open.in+m[1] : b.open.out])
		bodyEnd := b.end
		if len(b.elses) > 0 {
			bodyEnd = b.elses[0]
		}
		body := text[b.open.to:bodyEnd.from]
		switch {
		case word == "with" && !strings.Contains(condition, ":="):
			body = undotted(body, condition)
		case word != "if":
			continue
		}
		all = append(all, mutant{
			file, fmt.Sprintf("without %s %s", word, condition),
			text[:b.open.from] + silenced(text, b.open) + body + silenced(text, b.end) + text[b.end.to:],
		})
		all = append(all, alternatives(file, text, b)...)
	}
	return append(all, fallbacks(file, text)...)
}

// alternatives takes away the condition of each else if.
func alternatives(file, text string, b block) []mutant {
	var all []mutant
	for i, a := range b.elses {
		inside := strings.TrimSpace(text[a.in:a.out])
		if inside == "else" {
			continue
		}
		end := b.end
		if i+1 < len(b.elses) {
			end = b.elses[i+1]
		}
		all = append(all, mutant{
			file, "without " + inside,
			text[:a.in] + " else " + text[a.out:end.from] + text[b.end.from:],
		})
	}
	return all
}

// undotted puts a value where the dot of a with was.
func undotted(body, value string) string {
	var out strings.Builder
	last, depth := 0, 0
	for _, a := range actions(body) {
		m := keyword.FindStringSubmatch(body[a.in:a.out])
		if m != nil && m[1] == "end" && depth > 0 {
			depth--
		}
		for _, t := range tokens(body, a) {
			if word := body[t[0]:t[1]]; depth == 0 && word[0] == '.' && (t[0] == a.in || body[t[0]-1] != ')') {
				out.WriteString(body[last:t[0]] + "(" + value + ")" + strings.TrimSuffix(word, "."))
				last = t[1]
			}
		}
		if m != nil && (m[1] == "with" || m[1] == "range" || depth > 0 && m[1] == "if") {
			depth++
		}
	}
	return out.String() + body[last:]
}
