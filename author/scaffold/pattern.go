package scaffold

import (
	"regexp/syntax"
	"strings"
)

// matchingTexts returns texts that a regular expression may match. The shortest one comes first,
// then one of at least so many characters. The caller must check them, since bounds of words and
// the like are passed over.
func matchingTexts(pattern string, least int) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	var texts []string
	for _, more := range []int{0, 1, min(least, 1000)} {
		var b strings.Builder
		writeMatch(&b, parsed.Simplify(), more)
		texts = append(texts, b.String())
	}
	return texts
}

// writeMatch writes a text that matches an expression. more is how often a part is repeated that
// may be repeated at will.
func writeMatch(b *strings.Builder, re *syntax.Regexp, more int) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(pleasantRune(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture, syntax.OpConcat:
		for _, part := range re.Sub {
			writeMatch(b, part, more)
		}
	case syntax.OpAlternate:
		writeMatch(b, re.Sub[0], more)
	case syntax.OpPlus:
		writeMatch(b, re.Sub[0], 0)
		fallthrough
	case syntax.OpStar:
		for range more {
			writeMatch(b, re.Sub[0], 0)
		}
	}
}

// pleasantRune returns a character of a class that people like to read: a small letter, a capital,
// a digit, or else the first one.
func pleasantRune(ranges []rune) rune {
	for _, best := range "ax" + "A" + "1" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= best && best <= ranges[i+1] {
				return best
			}
		}
	}
	if len(ranges) == 0 {
		return 'x'
	}
	return ranges[0]
}
