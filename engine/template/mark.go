package template

import (
	"sort"
	"strings"
)

// A mark says which position of a template the text from off on comes from.
// The marks of a text are in the order of their offsets.
type mark struct {
	off int
	at  pos
	// whole: all of the text comes from that one position (an action), rather
	// than character by character.
	whole bool
}

// originOf returns the position that the character at off comes from. off is not before the mark.
func (m mark) originOf(off int) pos {
	if !m.whole {
		m.at.off += off - m.off
	}
	return m.at
}

// locateOffset finds the position that the text at off comes from: that of the last mark at or
// before it.
func locateOffset(marks []mark, off int) pos {
	i := sort.Search(len(marks), func(i int) bool { return marks[i].off > off })
	if i == 0 {
		return pos{}
	}
	return marks[i-1].originOf(off)
}

// withIndent puts first before the first line and n blanks before every other line that is not
// empty.
func (f *fragment) withIndent(first string, n int) *fragment {
	blanks := strings.Repeat(" ", n)
	out := &fragment{holes: f.holes, laid: f.laid, sealed: f.sealed}
	var b strings.Builder
	next, off := 0, 0
	for line := range strings.Lines(f.text) {
		lead := blanks
		switch {
		case off == 0:
			lead = first
		case line == "\n":
			lead = ""
		}
		b.WriteString(lead)
		shift := b.Len() - off
		if next > 0 && lead != "" { // the line goes on from before
			out.marks = append(out.marks, mark{b.Len(), f.marks[next-1].originOf(off), f.marks[next-1].whole})
		}
		for ; next < len(f.marks) && f.marks[next].off < off+len(line); next++ {
			m := f.marks[next]
			out.marks = append(out.marks, mark{m.off + shift, m.at, m.whole})
		}
		b.WriteString(line)
		off += len(line)
	}
	if f.text == "" {
		b.WriteString(first)
	}
	out.text = b.String()
	return out
}

// withoutEnds cuts the characters of cutset off both ends.
func (f *fragment) withoutEnds(cutset string) *fragment {
	left := len(f.text) - len(strings.TrimLeft(f.text, cutset))
	out := &fragment{text: strings.Trim(f.text, cutset), holes: f.holes, laid: f.laid, sealed: f.sealed}
	for _, m := range f.marks {
		shifted := mark{max(m.off-left, 0), m.at, m.whole}
		if !m.whole && m.off < left {
			shifted.at.off += left - m.off
		}
		out.marks = append(out.marks, shifted)
	}
	return out
}
