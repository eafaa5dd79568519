package template

import (
	"bytes"
	"slices"
	"strings"
)

// settleHoles returns a skeleton in which what toYaml prints of a value that may be a map or a
// list, alone on its line, is what the lines beside it say: entries beside keys, items beside
// items. In a render the value says it.
func (o *output) settleHoles() *output {
	if !slices.ContainsFunc(o.holes, func(h hole) bool { return isUnsure(h.value) }) {
		return o
	}
	s := &settling{holes: o.holes}
	for at := 0; at < len(o.buf); {
		line, _, _ := bytes.Cut(o.buf[at:], []byte("\n"))
		if !s.blocks.readLine(line) {
			s.readLine(line, at)
		}
		s.passed += countHoles(line)
		at += len(line) + 1
	}
	return s.rewriteHoles(o)
}

// isUnsure reports whether a hole's value may be entries or items.
func isUnsure(v any) bool {
	e, ok := v.(*encoded)
	if !ok || !strings.Contains(strings.ToLower(e.form), "yaml") {
		return false
	}
	stand, ok := e.value.(Standin)
	return ok && stand.Unsure
}

// A settling goes through a skeleton line by line.
type settling struct {
	holes  []hole
	blocks blockScan
	levels []*level // those that are open, outermost first
	passed int      // how many holes the lines before have
	found  []settledHole
}

// A level is a map or a list that lines belong to.
type level struct {
	indent int
	// kind is holeMap or holeList as the last line says, "" where none does.
	kind string
	// bare: the last line is a key without a value.
	bare bool
	// open is where holes stand that no line has said anything of yet.
	open []int
}

// A settledHole is one at off that is entries or items.
type settledHole struct {
	off  int
	kind string
}

// readLine reads the line that begins at off.
func (s *settling) readLine(line []byte, off int) {
	text := bytes.TrimLeft(line, " ")
	if len(text) == 0 || text[0] == '#' {
		return
	}
	indent := len(line) - len(text)
	for {
		at := s.levelAt(indent)
		if item := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("-")), " "); len(item) < len(text) && (len(item) == 0 || text[1] == ' ') {
			s.setKind(at, holeList, false)
			if len(item) == 0 {
				return
			}
			indent, text = indent+len(text)-len(item), item
			continue
		}
		switch {
		case string(bytes.TrimRight(text, " ")) == holeValue && isUnsure(s.holes[s.passed].value):
			s.addHole(at, off+bytes.IndexRune(line, []rune(holeValue)[0]))
		case bytes.HasSuffix(bytes.TrimRight(text, " "), []byte(":")):
			s.setKind(at, holeMap, true)
		case bytes.Contains(text, []byte(": ")):
			s.setKind(at, holeMap, false)
		}
		return
	}
}

// levelAt returns the level of a line with so many blanks. Those inside have ended.
func (s *settling) levelAt(indent int) *level {
	for len(s.levels) > 0 && s.levels[len(s.levels)-1].indent > indent {
		s.levels = s.levels[:len(s.levels)-1]
	}
	if n := len(s.levels); n > 0 && s.levels[n-1].indent == indent {
		return s.levels[n-1]
	} else if n > 0 {
		s.levels[n-1].bare = false // its value is here
	}
	at := &level{indent: indent}
	s.levels = append(s.levels, at)
	return at
}

// setKind records what a line says of its level.
func (s *settling) setKind(at *level, kind string, bare bool) {
	for _, off := range at.open {
		s.found = append(s.found, settledHole{off, kind})
	}
	at.kind, at.bare, at.open = kind, bare, nil
}

// addHole records a hole that is alone on its line.
func (s *settling) addHole(at *level, off int) {
	switch {
	case at.bare:
		s.setKind(at, holeList, false) // items may stand below the first character of their key
		fallthrough
	case at.kind != "":
		s.found = append(s.found, settledHole{off, at.kind})
	default:
		at.open = append(at.open, off)
	}
}

// rewriteHoles returns the skeleton with the holes as they were found to be.
func (s *settling) rewriteHoles(o *output) *output {
	slices.SortFunc(s.found, func(a, b settledHole) int { return a.off - b.off })
	out := &output{holes: o.holes, sealed: o.sealed, passages: o.passages, start: o.start}
	from, next := 0, 0
	upTo := func(off int) {
		for ; next < len(o.marks) && o.marks[next].off < off; next++ {
			m := o.marks[next]
			m.off += len(out.buf) - from
			out.marks = append(out.marks, m)
		}
		out.buf = append(out.buf, o.buf[from:off]...)
		from = off
	}
	for _, h := range s.found {
		upTo(h.off)
		out.buf = append(out.buf, holeLead(h.kind)...)
		upTo(h.off + holeSize)
		copy(out.buf[len(out.buf)-holeSize:], h.kind)
		out.buf = append(out.buf, holeTail(h.kind)...)
	}
	upTo(len(o.buf))
	for ; next < len(o.marks); next++ {
		m := o.marks[next]
		m.off += len(out.buf) - len(o.buf)
		out.marks = append(out.marks, m)
	}
	return out
}
