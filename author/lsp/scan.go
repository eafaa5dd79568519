package lsp

import (
	"regexp"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// A spot is a place in the YAML of a text that need not parse.
type spot struct {
	// path are the keys above, outer ones first; "[]" is an item of a list.
	path []string
	// key is the key on the line, complete or begun, and word what was written of what is
	// asked for: of the key, or of its value. from is where word begins.
	key, word string
	from      int
	value     bool // the value is asked for
	// beside are the other keys of the same map.
	beside []string
	gvk    apischema.GroupVersionKind
}

var (
	// yamlKey parts a line into indentation, dashes, key and value.
	yamlKey   = regexp.MustCompile(`^( *)((?:- +)*)(?:"([^"]*)"|'([^']*)'|([^\s"'#{}\[\],:&*!|>%@-][^#{}\[\],]*?|-[^\s#{}\[\],]+?))\s*:(?:\s+(.*)|)$`)
	yamlBegun = regexp.MustCompile(`^( *)((?:- +)*)([\w./-]*)$`)
	topLine   = regexp.MustCompile(`(?m)^(apiVersion|kind): *["']?([\w./-]*)`)
	newDoc    = regexp.MustCompile(`(?m)^---`)
)

// blankActions blanks the actions of a text. Printed values become x.
func blankActions(text string) string {
	for _, a := range actionsOf(text) {
		text = blankOut(text, a.from, a.to)
		before := text[strings.LastIndexByte(text[:a.from], '\n')+1 : a.from]
		after, _, _ := strings.Cut(text[a.to:], "\n")
		beside := strings.TrimSpace(before) != "" || strings.TrimSpace(after) != "" && !strings.HasPrefix(strings.TrimSpace(after), "{{")
		if beside && a.to > a.from+1 {
			text = text[:a.from] + "x" + text[a.from+1:]
		}
	}
	return text
}

// A yamlLine is what a line of YAML says.
type yamlLine struct {
	dashes []int // the columns of its dashes
	column int   // of its key
	key    string
	value  string
}

// lineFrom reads a line; ok is false if it has no key.
func lineFrom(line string) (y yamlLine, ok bool) {
	m := yamlKey.FindStringSubmatch(strings.TrimRight(line, " \r"))
	if m == nil {
		return y, false
	}
	y.column = len(m[1]) + len(m[2])
	for i, c := range m[2] {
		if c == '-' {
			y.dashes = append(y.dashes, len(m[1])+i)
		}
	}
	y.key, y.value = m[3]+m[4]+m[5], strings.TrimSpace(m[6])
	return y, true
}

// spotAt finds out where in the YAML of a text a byte is; nil if that is not known, as in
// a text of several lines.
func spotAt(text string, offset int) *spot {
	plain := blankActions(text)
	start := strings.LastIndexByte(plain[:offset], '\n') + 1
	end := offset
	if i := strings.IndexByte(plain[offset:], '\n'); i >= 0 {
		end += i
	} else {
		end = len(plain)
	}
	s := &spot{}
	var y yamlLine
	if begun := yamlBegun.FindStringSubmatch(plain[start:offset]); begun != nil {
		full, complete := lineFrom(plain[start:end])
		if !complete {
			full, _ = lineFrom(begun[1] + begun[2] + "x:")
			full.key = begun[3]
		}
		y, s.key, s.word = full, full.key, begun[3]
		s.from = offset - len(s.word)
	} else if full, ok := lineFrom(plain[start:end]); ok {
		y, s.key = full, full.key
		colon := start + full.column + strings.IndexByte(plain[start+full.column:end], ':')
		if s.value = offset > colon; s.value {
			s.word = strings.TrimLeft(text[colon+1:offset], " \"'")
			s.from = offset - len(s.word)
		} else {
			s.word, s.from = full.key, start+full.column
		}
	} else {
		return nil
	}
	docFrom := 0
	for _, m := range newDoc.FindAllStringIndex(plain[:start], -1) {
		docFrom = m[1]
	}
	docTo := len(plain)
	if m := newDoc.FindStringIndex(plain[end:]); m != nil {
		docTo = end + m[0]
	}
	if !s.climbKeys(plain[docFrom:start], y) {
		return nil
	}
	s.addSiblings(plain[end:docTo], y)
	s.gvk = headOf(plain[docFrom:docTo], start-docFrom)
	return s
}

// climbKeys finds the keys above a line in the text before it. It returns false if the line is part
// of a text.
func (s *spot) climbKeys(before string, y yamlLine) bool {
	column, item, own := y.column, false, true // item: column is that of a dash; own: the map is still that of the line
	up := func(dashes []int) {
		for _, dash := range slices.Backward(dashes) {
			s.path = append([]string{"[]"}, s.path...)
			column, item, own = dash, true, false
		}
	}
	up(y.dashes)
	for _, line := range slices.Backward(strings.Split(before, "\n")) {
		above, ok := lineFrom(line)
		switch {
		case !ok || strings.HasPrefix(strings.TrimSpace(line), "#") || above.column > column:
		case above.column == column && !item:
			if own {
				s.beside = append(s.beside, above.key)
			}
			up(above.dashes)
		case above.column == column && len(above.dashes) > 0:
		default:
			if strings.HasPrefix(above.value, "|") || strings.HasPrefix(above.value, ">") {
				return false
			}
			s.path = append([]string{above.key}, s.path...)
			column, item, own = above.column, false, false
			up(above.dashes)
		}
		if column == 0 && !item && !own {
			break
		}
	}
	return true
}

// addSiblings adds the keys of the same map behind the line.
func (s *spot) addSiblings(after string, y yamlLine) {
	for line := range strings.SplitSeq(after, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		below, ok := lineFrom(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case indent < y.column || ok && len(below.dashes) > 0 && below.dashes[0] < y.column:
			return
		case ok && below.column == y.column && len(below.dashes) == 0:
			s.beside = append(s.beside, below.key)
		}
	}
}

// headOf is the apiVersion and kind of a document: of several, those nearest before a
// byte.
func headOf(doc string, offset int) apischema.GroupVersionKind {
	head := map[string]string{}
	for _, m := range topLine.FindAllStringSubmatchIndex(doc, -1) {
		key, value := doc[m[2]:m[3]], doc[m[4]:m[5]]
		if m[0] <= offset || head[key] == "" {
			head[key] = value
		}
	}
	return apischema.FromAPIVersionAndKind(head["apiVersion"], head["kind"])
}
