package chart

import (
	"regexp"
	"strings"
	"text/template/parse"
)

// keyAlone is a line that is a key without which an object would allow or
// select more than with an empty list, before an action.
var keyAlone = regexp.MustCompile(`(?:^|\n)([ \t]*(?:rules|from|to|ports):[ \t]*\n)[ \t]*$`)

// guardRange puts an `if` around a key whose items come of a range alone: Helm
// prints the key with nothing in it, which stands for its absence; here that
// must be said.
func (r *rewriter) guardRange(n *parse.RangeNode) {
	a := r.actionAt(r.pipeSpan(n.Pipe).from)
	b := r.blocks[a.from]
	m := keyAlone.FindStringSubmatchIndex(r.text[:a.from])
	if b == nil || len(b) != 2 || m == nil || r.inText(m[2]) {
		return
	}
	line, last := r.text[m[2]:m[3]], b[1]
	if rest := r.text[last.to:]; rest != "" && indentOf(rest[strings.Index(rest, "\n")+1:]) > indentOf(line) {
		return
	}
	blanks := line[:indentOf(line)]
	over := r.resultOf(r.pipeSpan(n.Pipe))
	r.replaceSpan(span{m[2], m[2]}, blanks+"{{- if "+over+" }}\n")
	r.replaceSpan(span{last.to, last.to}, "\n"+blanks+"{{- end }}")
}

var opensText = regexp.MustCompile(`[:\-]\s+[|>][-+1-9]*\s*(?:#.*)?$`)

// inText reports whether a line is text of a block scalar.
func (s *source) inText(off int) bool {
	for line := s.lineSpan(off); ; {
		above, ok := s.lineAbove(line)
		if !ok {
			return false
		}
		if opensText.MatchString(strings.TrimRight(s.textOf(above), "\n")) {
			return true
		}
		line = above
	}
}

// lineAbove returns the line that a line is indented under.
func (s *source) lineAbove(line span) (span, bool) {
	for at := line.from; at > 0; {
		up := s.lineSpan(at - 1)
		bare := s.textOf(up)
		if indentOf(bare) < indentOf(s.textOf(line)) && strings.TrimSpace(bare) != "" && !strings.HasPrefix(strings.TrimSpace(bare), "{{") {
			return up, true
		}
		at = up.from
	}
	return span{}, false
}
